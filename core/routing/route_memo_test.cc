#include "core/routing/route_memo.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::routing {
namespace {

TEST(RouteMemo, RemembersByMethodAndWholePath) {
    RouteMemo memo;
    memo.remember(0, "/a/b", 7);
    EXPECT_EQ(memo.find(0, "/a/b"), 7u);
    EXPECT_EQ(memo.find(1, "/a/b"), no_route);
    EXPECT_EQ(memo.find(0, "/a/c"), no_route);
    EXPECT_EQ(memo.find(0, "/a/bb"), no_route);
    EXPECT_EQ(memo.find(0, ""), no_route);
}

TEST(RouteMemo, KeepsTheLongestPathAndNoLonger) {
    RouteMemo memo;
    const std::string longest(RouteMemo::path_bytes_max, 'x');
    const std::string longer = longest + 'x';
    memo.remember(0, longest, 1);
    memo.remember(0, longer, 2);
    EXPECT_EQ(memo.find(0, longest), 1u);
    EXPECT_EQ(memo.find(0, longer), no_route);
}

TEST(RouteMemo, NeverAnswersForAnotherPath) {
    RouteMemo memo;
    for (RouteId route = 0; route < 1000; ++route)
        memo.remember(0, "/path/" + std::to_string(route), route);
    size_t found = 0;
    for (RouteId route = 0; route < 1000; ++route) {
        const RouteId answer = memo.find(0, "/path/" + std::to_string(route));
        if (answer == no_route) continue;
        EXPECT_EQ(answer, route);
        ++found;
    }
    EXPECT_GT(found, 0u);
}

TEST(RouteMemo, ForgetsAll) {
    RouteMemo memo;
    memo.remember(0, "/", 1);
    memo.forget();
    EXPECT_EQ(memo.find(0, "/"), no_route);
}

}  // namespace
}  // namespace millrace::routing
