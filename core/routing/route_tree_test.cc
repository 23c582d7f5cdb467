#include "core/routing/route_tree.h"

#include "core/testing/naive_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace millrace::routing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Found {
    RouteId route = no_route;
    std::vector<std::string> parameters;
    bool operator==(const Found&) const = default;
};

void PrintTo(const Found& found, std::ostream* out) {
    *out << "route " << found.route << " " << ::testing::PrintToString(found.parameters);
}

Found find(const RouteTree& tree, std::string_view method, std::string_view path,
           uint32_t skip = 0) {
    Match match;
    if (!tree.find(method, path, skip, match)) return {};
    const auto begin = match.parameters.begin();
    return {match.route, {begin, begin + match.parameter_count}};
}

RouteId route_of(const RouteTree& tree, std::string_view path) {
    return find(tree, "GET", path).route;
}

std::vector<RouteId> all_routes(const RouteTree& tree, std::string_view method,
                                std::string_view path) {
    std::vector<RouteId> routes;
    for (uint32_t skip = 0;; ++skip) {
        const Found found = find(tree, method, path, skip);
        if (found.route == no_route) return routes;
        routes.push_back(found.route);
    }
}

std::string repeated(std::string_view text, size_t count) {
    std::string result;
    for (size_t index = 0; index < count; ++index)
        result += text;
    return result;
}

TEST(RouteTree, EmptyTreeMatchesNothing) {
    const RouteTree tree;
    EXPECT_EQ(route_of(tree, "/"), no_route);
    EXPECT_EQ(route_of(tree, "/a/b"), no_route);
    EXPECT_EQ(find(tree, "", "/").route, no_route);
}

TEST(RouteTree, TextMatchesByteForByte) {
    RouteTree tree;
    EXPECT_EQ(tree.add("GET", "/a/b", 1), no_route);
    EXPECT_EQ(route_of(tree, "/a/b"), 1u);
    for (const auto* path : {"/A/b", "/a/B", "/a%2Fb", "/a/b/", "/a//b", "//a/b", "/a", "/a/bc",
                             "/a/b/c", "/", "/%61/b", "a/b"})
        EXPECT_EQ(route_of(tree, path), no_route) << path;
}

TEST(RouteTree, RootIsOneEmptySegment) {
    RouteTree tree;
    tree.add("GET", "/", 1);
    EXPECT_EQ(route_of(tree, "/"), 1u);
    EXPECT_EQ(route_of(tree, "//"), no_route);
    EXPECT_EQ(route_of(tree, "/a"), no_route);
}

TEST(RouteTree, TrailingSlashIsSignificant) {
    RouteTree tree;
    tree.add("GET", "/a", 1);
    tree.add("GET", "/a/", 2);
    EXPECT_EQ(route_of(tree, "/a"), 1u);
    EXPECT_EQ(route_of(tree, "/a/"), 2u);
    EXPECT_EQ(route_of(tree, "/a//"), no_route);
}

TEST(RouteTree, DoubledSlashIsAnEmptySegment) {
    RouteTree tree;
    tree.add("GET", "/a//b", 1);
    tree.add("GET", "//", 2);
    EXPECT_EQ(route_of(tree, "/a//b"), 1u);
    EXPECT_EQ(route_of(tree, "/a/b"), no_route);
    EXPECT_EQ(route_of(tree, "//"), 2u);
}

TEST(RouteTree, FirstCharacterOfAPatternIsASlashWhateverItIs) {
    RouteTree tree;
    tree.add("GET", "noslash", 1);
    tree.add("GET", "*", 2);
    EXPECT_EQ(route_of(tree, "/oslash"), 1u);
    EXPECT_EQ(route_of(tree, "/"), 2u);
    EXPECT_EQ(route_of(tree, "/other"), no_route);
    EXPECT_EQ(tree.add("GET", "/", 3), 2u);
    EXPECT_EQ(tree.remove("GET", "/oslash"), 1u);
}

TEST(RouteTree, EmptyPatternMatchesNothingAndIsNotTheRoot) {
    RouteTree tree;
    tree.add("GET", "", 1);
    EXPECT_EQ(route_of(tree, "/"), no_route);
    EXPECT_EQ(route_of(tree, ""), no_route);
    EXPECT_EQ(tree.add("GET", "/", 2), no_route);
    EXPECT_EQ(tree.remove("GET", ""), 1u);
    EXPECT_EQ(route_of(tree, "/"), 2u);
}

TEST(RouteTree, ParameterTakesOneNonEmptySegment) {
    RouteTree tree;
    tree.add("GET", "/u/:id", 1);
    EXPECT_EQ(find(tree, "GET", "/u/42"), (Found{1, {"42"}}));
    EXPECT_EQ(find(tree, "GET", "/u/a%2Fb%20c"), (Found{1, {"a%2Fb%20c"}}));
    EXPECT_EQ(find(tree, "GET", "/u/:id"), (Found{1, {":id"}}));
    for (const auto* path : {"/u/", "/u", "/u/4/", "/u/4/2", "/u//4"})
        EXPECT_EQ(route_of(tree, path), no_route) << path;
}

TEST(RouteTree, OnlyALeadingColonMakesAParameter) {
    RouteTree tree;
    tree.add("GET", "/c:id", 1);
    EXPECT_EQ(find(tree, "GET", "/c:id"), (Found{1, {}}));
    EXPECT_EQ(route_of(tree, "/c5"), no_route);
    EXPECT_THAT(tree.parameter_names(1), IsEmpty());
}

TEST(RouteTree, ParametersAreViewsIntoThePath) {
    RouteTree tree;
    tree.add("GET", "/:a/x/:b", 1);
    const std::string path = "/one/x/two";
    Match match;
    ASSERT_TRUE(tree.find("GET", path, 0, match));
    ASSERT_EQ(match.parameter_count, 2u);
    EXPECT_EQ(match.parameters[0].data(), path.data() + 1);
    EXPECT_EQ(match.parameters[1].data(), path.data() + 7);
}

TEST(RouteTree, ParameterNamesComeInPatternOrderWithDuplicates) {
    RouteTree tree;
    tree.add("GET", "/:a/:b/:a/:", 1);
    EXPECT_THAT(tree.parameter_names(1), ElementsAre("a", "b", "a", ""));
    EXPECT_EQ(find(tree, "GET", "/1/2/3/4"), (Found{1, {"1", "2", "3", "4"}}));
    EXPECT_THAT(tree.parameter_names(2), IsEmpty());
}

TEST(RouteTree, ParameterNamesAreThoseOfTheLastRegistration) {
    RouteTree tree;
    tree.add("GET", "/x/:first", 1);
    tree.add("POST", "/y/:second", 1);
    EXPECT_THAT(tree.parameter_names(1), ElementsAre("second"));
    tree.add("GET", "/x/:first", 1);
    EXPECT_THAT(tree.parameter_names(1), ElementsAre("first"));
    tree.remove("GET", "/x/:first");
    EXPECT_THAT(tree.parameter_names(1), ElementsAre("second"));
    tree.remove("POST", "/y/:second");
    EXPECT_THAT(tree.parameter_names(1), IsEmpty());
}

TEST(RouteTree, WildcardMatchesTheRestAlsoAnEmptyOne) {
    RouteTree tree;
    tree.add("GET", "/w/*", 1);
    for (const auto* path : {"/w/", "/w/a", "/w/a/b", "/w//", "/w/a/"})
        EXPECT_EQ(find(tree, "GET", path), (Found{1, {}})) << path;
    for (const auto* path : {"/w", "/", "/x/w/", "/W/a"})
        EXPECT_EQ(route_of(tree, path), no_route) << path;
}

TEST(RouteTree, WildcardMayHaveTextBehindTheStar) {
    RouteTree tree;
    tree.add("GET", "/w/*rest", 1);
    EXPECT_EQ(route_of(tree, "/w/anything/else"), 1u);
    tree.add("GET", "/w/*", 2);
    EXPECT_THAT(all_routes(tree, "GET", "/w/a"), ElementsAre(1, 2));
}

TEST(RouteTree, StarInsideASegmentIsText) {
    RouteTree tree;
    tree.add("GET", "/m*", 1);
    EXPECT_EQ(route_of(tree, "/m*"), 1u);
    EXPECT_EQ(route_of(tree, "/more"), no_route);
}

TEST(RouteTree, WildcardBeforeTheLastPlaceMatchesNothing) {
    RouteTree tree;
    tree.add("GET", "/mid/*/x", 1);
    for (const auto* path : {"/mid/*/x", "/mid/a/x", "/mid/", "/mid/*", "/mid"})
        EXPECT_EQ(route_of(tree, path), no_route) << path;
    tree.add("GET", "/mid/*", 2);
    EXPECT_THAT(all_routes(tree, "GET", "/mid/a/x"), ElementsAre(2));
    EXPECT_EQ(tree.remove("GET", "/mid/*/x"), 1u);
    EXPECT_EQ(route_of(tree, "/mid/a/x"), 2u);
}

TEST(RouteTree, ParameterBeforeWildcardKeepsItsValue) {
    RouteTree tree;
    tree.add("GET", "/:user/*", 1);
    EXPECT_EQ(find(tree, "GET", "/ann/files/a"), (Found{1, {"ann"}}));
    EXPECT_EQ(find(tree, "GET", "/ann/"), (Found{1, {"ann"}}));
    EXPECT_EQ(route_of(tree, "/ann"), no_route);
}

TEST(RouteTree, TextThenParameterThenWildcardInAnyOrderOfRegistration) {
    std::vector<std::pair<const char*, RouteId>> patterns{{"/x/a", 1},  {"/x/:p", 2},  {"/x/*", 3},
                                                          {"/:q/a", 4}, {"/:q/:p", 5}, {"/:q/*", 6},
                                                          {"/*", 7}};
    std::sort(patterns.begin(), patterns.end());
    do {
        RouteTree tree;
        for (const auto& [pattern, route] : patterns)
            tree.add("GET", pattern, route);
        ASSERT_THAT(all_routes(tree, "GET", "/x/a"), ElementsAre(1, 2, 3, 4, 5, 6, 7));
        ASSERT_THAT(all_routes(tree, "GET", "/x/b"), ElementsAre(2, 3, 5, 6, 7));
        ASSERT_THAT(all_routes(tree, "GET", "/y/a"), ElementsAre(4, 5, 6, 7));
        ASSERT_THAT(all_routes(tree, "GET", "/x/"), ElementsAre(3, 6, 7));
        ASSERT_THAT(all_routes(tree, "GET", "/x"), ElementsAre(7));
    } while (std::next_permutation(patterns.begin(), patterns.end()));
}

TEST(RouteTree, ParametersThatDifferInNameOnlyAreSeparateRoutes) {
    RouteTree one, other;
    one.add("GET", "/:a", 1);
    one.add("GET", "/:b", 2);
    other.add("GET", "/:b", 2);
    other.add("GET", "/:a", 1);
    EXPECT_THAT(all_routes(one, "GET", "/x"), ElementsAre(2, 1));
    EXPECT_THAT(all_routes(other, "GET", "/x"), ElementsAre(2, 1));
}

TEST(RouteTree, BacktracksOutOfDeadEnds) {
    RouteTree tree;
    tree.add("GET", "/w/:id/:x", 1);
    tree.add("GET", "/w/*", 2);
    EXPECT_EQ(find(tree, "GET", "/w/q"), (Found{2, {}}));
    EXPECT_EQ(find(tree, "GET", "/w/q/r"), (Found{1, {"q", "r"}}));
    EXPECT_EQ(find(tree, "GET", "/w/q/r/s"), (Found{2, {}}));

    tree.add("GET", "/a/b/c", 3);
    tree.add("GET", "/:one/b/d", 4);
    tree.add("GET", "/:one/:two/e", 5);
    EXPECT_EQ(find(tree, "GET", "/a/b/c"), (Found{3, {}}));
    EXPECT_EQ(find(tree, "GET", "/a/b/d"), (Found{4, {"a"}}));
    EXPECT_EQ(find(tree, "GET", "/a/b/e"), (Found{5, {"a", "b"}}));
    EXPECT_EQ(find(tree, "GET", "/a/b/f"), (Found{}));
}

TEST(RouteTree, SkipWalksFromTheMethodTreeIntoTheAnyTree) {
    RouteTree tree;
    tree.add("", "/exact", 1);
    tree.add("", "/*", 2);
    tree.add("GET", "/*", 3);
    tree.add("GET", "/:p", 4);
    EXPECT_THAT(all_routes(tree, "GET", "/exact"), ElementsAre(4, 3, 1, 2));
    EXPECT_THAT(all_routes(tree, "POST", "/exact"), ElementsAre(1, 2));
    EXPECT_EQ(find(tree, "GET", "/exact", 0), (Found{4, {"exact"}}));
    EXPECT_EQ(find(tree, "GET", "/exact", 2), (Found{1, {}}));
    EXPECT_EQ(find(tree, "GET", "/exact", 4), (Found{}));
    EXPECT_EQ(find(tree, "GET", "/exact", UINT32_MAX), (Found{}));
}

TEST(RouteTree, MethodTreesAreSeparateAndCaseSensitive) {
    const std::vector<std::string> methods{
        "GET",   "PUT",    "POST", "HEAD", "PATCH",    "TRACE", "DELETE", "OPTIONS", "CONNECT",
        "PURGE", "SEARCH", "GETS", "G",    "PROPFIND", "get",   "POSTX",  "OPTIONZ", "DELETES"};
    RouteTree tree;
    for (RouteId route = 0; route < methods.size(); ++route)
        tree.add(methods[route], "/a", route);
    for (RouteId route = 0; route < methods.size(); ++route)
        EXPECT_EQ(find(tree, methods[route], "/a").route, route) << methods[route];
    for (const auto* method : {"Get", "PUTS", "PUX", "POSX", "TRACX", "DELETX", "CONNECX", "", "X"})
        EXPECT_EQ(find(tree, method, "/a").route, no_route) << method;
}

TEST(RouteTree, SameMethodAndPatternReplaces) {
    RouteTree tree;
    EXPECT_EQ(tree.add("GET", "/a/:b", 1), no_route);
    EXPECT_EQ(tree.add("GET", "/a/:b", 2), 1u);
    EXPECT_EQ(tree.add("POST", "/a/:b", 3), no_route);
    EXPECT_EQ(tree.add("", "/a/:b", 4), no_route);
    EXPECT_THAT(all_routes(tree, "GET", "/a/x"), ElementsAre(2, 4));
    EXPECT_THAT(tree.parameter_names(1), IsEmpty());
    EXPECT_THAT(tree.parameter_names(2), ElementsAre("b"));
}

TEST(RouteTree, RemovalTakesOneRegistrationAway) {
    RouteTree tree;
    tree.add("GET", "/a", 1);
    tree.add("GET", "/a/b", 2);
    tree.add("", "/a", 3);
    EXPECT_EQ(tree.remove("GET", "/a/b/c"), no_route);
    EXPECT_EQ(tree.remove("POST", "/a"), no_route);
    EXPECT_EQ(tree.remove("GET", "/b"), no_route);
    EXPECT_EQ(tree.remove("GET", "/a"), 1u);
    EXPECT_EQ(tree.remove("GET", "/a"), no_route);
    EXPECT_EQ(route_of(tree, "/a"), 3u);
    EXPECT_EQ(route_of(tree, "/a/b"), 2u);
    EXPECT_EQ(tree.remove("", "/a"), 3u);
    EXPECT_EQ(tree.remove("GET", "/a/b"), 2u);
    EXPECT_EQ(route_of(tree, "/a"), no_route);
    EXPECT_EQ(tree.add("GET", "/a", 4), no_route);
    EXPECT_EQ(route_of(tree, "/a"), 4u);
}

TEST(RouteTree, ManySiblingsAreAllFound) {
    RouteTree tree;
    for (RouteId route = 0; route < 500; ++route)
        tree.add("GET", "/item" + std::to_string(route * 7919 % 500), route * 7919 % 500);
    for (RouteId route = 0; route < 500; ++route)
        EXPECT_EQ(route_of(tree, "/item" + std::to_string(route)), route);
    EXPECT_EQ(route_of(tree, "/item500"), no_route);
    EXPECT_EQ(route_of(tree, "/item"), no_route);
    EXPECT_EQ(route_of(tree, "/zzzzzzzzz"), no_route);
}

TEST(RouteTree, PathsOfSegmentsMaxMatchAndLongerOnesDoNot) {
    RouteTree tree;
    tree.add("GET", repeated("/:p", segments_max), 1);
    tree.add("GET", repeated("/:p", segments_max + 1), 2);
    tree.add("GET", repeated("/a", segments_max), 3);
    tree.add("GET", repeated("/a", segments_max + 1), 4);
    EXPECT_THAT(all_routes(tree, "GET", repeated("/a", segments_max)), ElementsAre(3, 1));
    EXPECT_EQ(find(tree, "GET", repeated("/x", segments_max)).parameters.size(), segments_max);
    EXPECT_THAT(all_routes(tree, "GET", repeated("/a", segments_max + 1)), IsEmpty());
    EXPECT_EQ(tree.remove("GET", repeated("/a", segments_max + 1)), 4u);
}

TEST(RouteTree, WildcardInTheLastSegmentLookedAtMatchesLongerPaths) {
    RouteTree tree;
    tree.add("GET", repeated("/a", segments_max - 1) + "/*", 1);
    tree.add("GET", repeated("/a", segments_max) + "/*", 2);
    for (const size_t segments : {segments_max, segments_max + 1, segments_max * 10})
        EXPECT_THAT(all_routes(tree, "GET", repeated("/a", segments)), ElementsAre(1)) << segments;
    EXPECT_THAT(all_routes(tree, "GET", repeated("/a", segments_max - 1)), IsEmpty());
}

TEST(RouteTree, VeryLongPatternsAreHarmless) {
    RouteTree tree;
    const std::string slashes(1'000'000, '/');
    tree.add("GET", slashes, 1);
    tree.add("GET", "/*", 2);
    EXPECT_THAT(all_routes(tree, "GET", slashes), ElementsAre(2));
    EXPECT_EQ(tree.remove("GET", slashes), 1u);
}

TEST(RouteTree, SpecialTargetsAreOneSegment) {
    RouteTree tree;
    tree.add("", "/*", 1);
    EXPECT_EQ(find(tree, "OPTIONS", "*"), (Found{1, {}}));
    EXPECT_EQ(find(tree, "CONNECT", "example.org:443"), (Found{1, {}}));
    tree.add("CONNECT", "/:authority", 2);
    EXPECT_EQ(find(tree, "CONNECT", "example.org:443"), (Found{2, {"example.org:443"}}));
    EXPECT_EQ(find(tree, "CONNECT", "odd/one:443"), (Found{2, {"odd/one:443"}}));
    tree.add("CONNECT", "/example.org:443", 3);
    EXPECT_EQ(find(tree, "CONNECT", "example.org:443"), (Found{3, {}}));
}

TEST(RouteTree, MethodsForListsThoseWithARouteOfTheirOwn) {
    RouteTree tree;
    tree.add("PURGE", "/a", 1);
    tree.add("", "/*", 2);
    tree.add("GET", "/a", 3);
    tree.add("POST", "/b", 4);
    tree.add("DELETE", "/:any", 5);
    EXPECT_THAT(tree.methods_for("/a"), ElementsAre("PURGE", "GET", "DELETE"));
    EXPECT_THAT(tree.methods_for("/b"), ElementsAre("POST", "DELETE"));
    EXPECT_THAT(tree.methods_for("/"), IsEmpty());
    tree.remove("GET", "/a");
    EXPECT_THAT(tree.methods_for("/a"), ElementsAre("PURGE", "DELETE"));
}

TEST(RouteTree, MovesAndStaysUsable) {
    RouteTree source;
    source.add("GET", "/a/:id", 1);
    source.add("", "/b", 2);
    RouteTree target{std::move(source)};
    EXPECT_EQ(route_of(target, "/a/5"), 1u);
    EXPECT_EQ(route_of(target, "/b"), 2u);
    EXPECT_THAT(target.parameter_names(1), ElementsAre("id"));
    RouteTree third;
    third.add("GET", "/c", 3);
    third = std::move(target);
    EXPECT_EQ(route_of(third, "/a/5"), 1u);
    EXPECT_EQ(route_of(third, "/c"), no_route);
    // NOLINTNEXTLINE(bugprone-use-after-move): a moved-from tree is an empty one.
    EXPECT_EQ(route_of(target, "/a/5"), no_route);
    target.add("", "/d", 4);
    target.add("GET", "/d", 5);
    EXPECT_THAT(all_routes(target, "GET", "/d"), ElementsAre(5, 4));
}

// Random registrations and paths over few words, so that they meet often.
class RandomRoutes {
  public:
    explicit RandomRoutes(uint32_t seed) : random_(seed) {}

    uint32_t below(uint32_t end) {
        return std::uniform_int_distribution<uint32_t>{0, end - 1}(random_);
    }

    std::string method() {
        constexpr std::array methods{"GET", "POST", "PURGE", ""};
        return methods[below(methods.size())];
    }

    std::string pattern() {
        constexpr std::array words{"", "a", "b", "ab", ":x", ":y", "*", "*z", "a*"};
        return join(words);
    }

    std::string path() {
        constexpr std::array words{"", "a", "b", "ab", "c", "*", ":x"};
        return below(20) == 0 ? "*" : join(words);
    }

  private:
    template <size_t size>
    std::string join(const std::array<const char*, size>& words) {
        std::string text;
        for (uint32_t left = 1 + below(4); left > 0; --left)
            text.append("/").append(words[below(size)]);
        return text;
    }

    std::mt19937 random_;
};

void expect_same_answers(const RouteTree& tree, const ::millrace::testing::NaiveRoutes& naive,
                         const std::string& method, const std::string& path) {
    const auto expected = naive.find(method, path);
    for (uint32_t skip = 0; skip < expected.size(); ++skip) {
        const Found found = find(tree, method, path, skip);
        ASSERT_EQ(found, (Found{expected[skip].route, expected[skip].parameters}))
            << method << " " << path << " skipping " << skip;
    }
    ASSERT_EQ(find(tree, method, path, static_cast<uint32_t>(expected.size())), Found{})
        << method << " " << path;
}

TEST(RouteTree, AgreesWithANaiveMatcher) {
    size_t candidates = 0;
    for (uint32_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomRoutes random{seed};
        RouteTree tree;
        ::millrace::testing::NaiveRoutes naive;
        for (RouteId step = 0; step < 60; ++step) {
            const std::string method = random.method(), pattern = random.pattern();
            if (random.below(4) == 0) {
                ASSERT_EQ(tree.remove(method, pattern),
                          naive.remove(method, pattern).value_or(no_route));
            } else {
                ASSERT_EQ(tree.add(method, pattern, step),
                          naive.add(method, pattern, step).value_or(no_route));
            }
            const std::string path = random.path(), asked = random.method();
            ASSERT_NO_FATAL_FAILURE(expect_same_answers(tree, naive, asked, path));
            candidates += naive.find(asked, path).size();
        }
    }
    EXPECT_GT(candidates, 5'000u);  // the words are few enough for the test to mean something
}

}  // namespace
}  // namespace millrace::routing
