#include "core/server/cork.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace millrace::server {
namespace {

class CorkTest : public ::testing::Test {
  protected:
    // The cork never looks into a connection.
    static Connection& owner(uintptr_t number) {
        return *reinterpret_cast<Connection*>(number * 64);
    }

    void write(Connection& by, Cork::Chain& chain, std::string_view text, size_t room) {
        char* const begin = cork.begin(by, chain, room);
        EXPECT_TRUE(cork.owns(begin));
        std::memcpy(begin, text.data(), text.size());
        cork.commit(begin + text.size());
    }
    std::string text_of(const Cork::Chain& chain) const {
        std::string text;
        for (uint32_t index = chain.first; index != Cork::no_segment;
             index = cork.segment(index).next)
            text += cork.text(cork.segment(index));
        return text;
    }

    Cork cork;
    Cork::Chain a, b;
};

TEST_F(CorkTest, EachConnectionHasItsChain) {
    write(owner(1), a, "one ", 100);
    write(owner(1), a, "two ", 4);
    write(owner(2), b, "ONE ", 50);
    write(owner(1), a, "three", 5);
    write(owner(2), b, "TWO", 3);
    EXPECT_EQ(text_of(a), "one two three");
    EXPECT_EQ(text_of(b), "ONE TWO");
    EXPECT_EQ(a.first, 0u);
    EXPECT_EQ(cork.segment(a.first).next, a.last);
}

TEST_F(CorkTest, AChainThatWasWrittenOutBeginsAnew) {
    write(owner(1), a, "gone", 4);
    a = {};
    write(owner(1), a, "kept", 4);
    EXPECT_FALSE(a.is_empty());
    EXPECT_EQ(text_of(a), "kept");
}

TEST_F(CorkTest, NothingWrittenIsAnEmptyText) {
    write(owner(1), a, "", 10);
    write(owner(2), b, "x", 1);
    EXPECT_EQ(text_of(a), "");
    EXPECT_EQ(text_of(b), "x");
}

TEST_F(CorkTest, RoomIsExact) {
    EXPECT_TRUE(cork.has_room(Cork::capacity_bytes));
    EXPECT_FALSE(cork.has_room(Cork::capacity_bytes + 1));
    const std::string large(Cork::capacity_bytes - 1, 'x');
    write(owner(1), a, large, large.size());
    EXPECT_TRUE(cork.has_room(1));
    EXPECT_FALSE(cork.has_room(2));
    write(owner(1), a, "y", 1);
    EXPECT_FALSE(cork.has_room(1));
    EXPECT_EQ(text_of(a), large + "y");
    cork.reset();
    EXPECT_TRUE(cork.has_room(Cork::capacity_bytes));
}

TEST_F(CorkTest, OwnsItsMemoryOnly) {
    char other = 0;
    EXPECT_FALSE(cork.owns(&other));
    EXPECT_FALSE(cork.owns(nullptr));
}

}  // namespace
}  // namespace millrace::server
