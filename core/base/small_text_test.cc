#include "core/base/small_text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace millrace {
namespace {

TEST(SmallText, AsAString) {
    std::mt19937 random{5};
    SmallText<16> text;
    std::string model;
    for (int step = 0; step < 2'000; ++step) {
        const std::string piece(random() % 12, static_cast<char>('a' + step % 26));
        if (random() % 12 == 0) {
            text.clear();
            model.clear();
        } else if (random() % 2 == 0) {
            text.append(piece);
            model += piece;
        } else {
            char* const out = text.begin(piece.size() + 5);  // more than is used
            text.commit(SmallText<16>::put(out, piece));
            model += piece;
        }
        ASSERT_EQ(text.view(), model);
        ASSERT_EQ(text.size(), model.size());
        ASSERT_EQ(text.empty(), model.empty());
    }
}

TEST(SmallText, Copies) {
    for (const size_t bytes : {0u, 16u, 17u, 1000u}) {
        SmallText<16> text, other;
        text.append(std::string(bytes, 'x'));
        const SmallText<16> copy{text};
        other.append("what was there before, and is longer than the object");
        other = text;
        const auto& self = text;
        text = self;
        EXPECT_EQ(text.view(), std::string(bytes, 'x'));
        text.clear();
        EXPECT_EQ(copy.view(), std::string(bytes, 'x'));
        EXPECT_EQ(other.view(), std::string(bytes, 'x'));
    }
}

}  // namespace
}  // namespace millrace
