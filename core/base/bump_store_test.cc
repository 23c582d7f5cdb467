#include "core/base/bump_store.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace millrace {
namespace {

TEST(BumpStore, WhatIsTakenStaysWhereItIs) {
    BumpStore<int> store{8};
    std::vector<std::pair<std::span<int>, int>> taken;
    std::mt19937 random{1};
    for (int round = 0; round < 3; ++round) {
        taken.clear();
        store.reset();
        for (int number = 0; number < 1000; ++number) {
            const size_t room = random() % 20, count = room == 0 ? 0 : random() % (room + 1);
            const auto place = store.room(room);
            ASSERT_EQ(place.size(), room);
            std::fill(place.begin(), place.end(), -1);  // the rest of the room is lost again
            std::fill_n(place.begin(), count, number);
            store.take(count);
            taken.emplace_back(place.first(count), number);
        }
        for (const auto& [place, number] : taken)
            for (const int value : place)
                ASSERT_EQ(value, number);
    }
}

TEST(BumpStore, RoomThatIsNotTakenIsGivenAgain) {
    BumpStore<int> store{4};
    int* const first = store.room(3).data();
    EXPECT_EQ(store.room(4).data(), first);
    store.take(1);
    EXPECT_EQ(store.room(3).data(), first + 1);
}

TEST(BumpStore, MemoryIsUsedAgain) {
    BumpStore<int> store{4};
    std::vector<int*> places;
    for (int round = 0; round < 3; ++round) {
        store.reset();
        std::vector<int*> now;
        for (int count = 0; count < 10; ++count) {
            now.push_back(store.room(3).data());
            store.take(3);
        }
        now.push_back(store.room(100).data());
        EXPECT_TRUE(round == 0 || now == places);
        places = std::move(now);
    }
}

TEST(BumpStore, RewindsToAMark) {
    BumpStore<int> store{4};
    const auto empty = store.mark();
    store.room(3)[0] = 7;
    int* const kept = store.room(3).data();
    store.take(3);
    const auto mark = store.mark();
    int* const next = store.room(3).data();  // in another block
    store.take(3);
    store.room(50);
    store.take(50);
    store.rewind(mark);
    EXPECT_EQ(store.room(3).data(), next);
    EXPECT_EQ(*kept, 7);
    store.rewind(empty);
    EXPECT_EQ(store.room(3).data(), kept);
}

}  // namespace
}  // namespace millrace
