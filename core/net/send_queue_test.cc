#include "core/net/send_queue.h"

#include <gtest/gtest.h>
#include <sys/uio.h>

#include <array>
#include <random>
#include <string>

namespace millrace::net {
namespace {

// The first `pieces_max` pieces, joined.
std::string joined(const SendQueue& queue, size_t pieces_max) {
    std::array<iovec, 64> pieces;
    const size_t count = queue.pieces(pieces.data(), pieces_max);
    EXPECT_LE(count, pieces_max);
    std::string text;
    for (size_t index = 0; index < count; ++index) {
        EXPECT_GT(pieces[index].iov_len, 0u);
        text.append(static_cast<const char*>(pieces[index].iov_base), pieces[index].iov_len);
    }
    return text;
}

void expect_same(const SendQueue& queue, const std::string& model) {
    ASSERT_EQ(queue.bytes(), model.size());
    ASSERT_EQ(queue.empty(), model.empty());
    ASSERT_EQ(joined(queue, 64), model);
    ASSERT_TRUE(model.starts_with(joined(queue, 1)));
    std::string copy(model.size() / 2 + 1, '?');
    copy.resize(queue.copy_to(copy.data(), copy.size()));
    ASSERT_EQ(copy, model.substr(0, model.size() / 2 + 1));
}

TEST(SendQueue, ByteForByteAsAString) {
    std::mt19937 random{4};
    SendQueue queue;
    std::string model;
    for (int step = 0; step < 5'000; ++step) {
        const bool is_large = random() % 8 == 0;
        std::string bytes(random() % (is_large ? 40'000 : 300), '?');
        for (char& byte : bytes)
            byte = static_cast<char>('a' + random() % 26);
        switch (model.size() > 200'000 ? 1 : random() % 8) {
            case 0:
                queue.prepend(bytes);
                model.insert(0, bytes);
                break;
            case 1:
            case 2: {
                const size_t count = random() % (model.size() + 1);
                queue.consume(count);
                model.erase(0, count);
                break;
            }
            case 3:
                if (random() % 20 != 0) break;
                queue.clear();
                model.clear();
                break;
            default:
                queue.append(bytes);
                model.append(bytes);
        }
        expect_same(queue, model);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(SendQueue, ALargePieceStaysWhole) {
    SendQueue queue;
    const std::string large(10 * SendQueue::block_bytes, 'x');
    queue.append(large);
    EXPECT_EQ(joined(queue, 1), large);
}

TEST(SendQueue, NothingIsNothing) {
    SendQueue queue;
    queue.append("");
    queue.prepend("");
    queue.consume(0);
    expect_same(queue, "");
    queue.append("a");
    queue.consume(0);
    queue.consume(1);
    expect_same(queue, "");
    queue.append("b");
    expect_same(queue, "b");
}

}  // namespace
}  // namespace millrace::net
