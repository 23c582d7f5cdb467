#include "core/server/receive_arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <vector>

namespace millrace::server {
namespace {

TEST(ReceiveArena, GivesItsMemoryOutInOrder) {
    std::vector<char> memory(ReceiveArena::bytes_min);
    ReceiveArena arena{memory};
    const size_t room = memory.size() - scan_padding_bytes;
    EXPECT_EQ(arena.room(), room);
    EXPECT_EQ(arena.room_max(), room);
    EXPECT_EQ(arena.begin(), memory.data());
    arena.take(1000);
    EXPECT_EQ(arena.begin(), memory.data() + 1000);
    EXPECT_EQ(arena.room(), room - 1000);
    EXPECT_FALSE(arena.is_empty());
    arena.take(room - 1000);
    EXPECT_EQ(arena.room(), 0u);
    arena.take(1);  // into the padding: what a full arena still has room for
    EXPECT_EQ(arena.room(), 0u);
    arena.reset();
    EXPECT_TRUE(arena.is_empty());
    EXPECT_EQ(arena.room(), room);
}

TEST(ReceiveArena, GrowsItsOwnMemory) {
    ReceiveArena arena{{}};
    EXPECT_EQ(arena.room(), ReceiveArena::default_bytes - scan_padding_bytes);
    EXPECT_EQ(arena.room_max(), SIZE_MAX);
    arena.grow(3 * MiB);
    EXPECT_EQ(arena.room(), 3 * MiB);
    std::memset(arena.begin(), 'x', arena.room() + scan_padding_bytes);
}

TEST(ReceiveArena, RefusesTooLittle) {
    std::vector<char> memory(ReceiveArena::bytes_min - 1);
    EXPECT_THROW(ReceiveArena{memory}, std::invalid_argument);
}

}  // namespace
}  // namespace millrace::server
