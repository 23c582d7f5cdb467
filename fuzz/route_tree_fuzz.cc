// Registrations, removals and lookups, one a line of the input, held against the naive matcher.
// A line is an operation letter, a method letter and a pattern or path: "+G/a/:b", "-A/*",
// "?P/a/x".
#include "core/routing/route_tree.h"
#include "core/testing/naive_routes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using millrace::routing::Match;
using millrace::routing::no_route;
using millrace::routing::RouteTree;
using millrace::testing::NaiveRoutes;

// The naive matcher takes time in proportion to the registrations.
constexpr uint32_t lines_max = 200;

void require(bool holds, std::string_view what, std::string_view line) {
    if (holds) return;
    std::fprintf(stderr, "%.*s differs for line: %.*s\n", static_cast<int>(what.size()),
                 what.data(), static_cast<int>(line.size()), line.data());
    std::abort();
}

std::string method_of(char letter) {
    switch (letter) {
        case 'G':
            return "GET";
        case 'P':
            return "POST";
        case 'X':
            return "PURGE";
        default:
            return "";
    }
}

void compare_lookups(const RouteTree& tree, const NaiveRoutes& naive, const std::string& method,
                     const std::string& path) {
    const auto expected = naive.find(method, path);
    Match match;
    for (uint32_t skip = 0; skip < expected.size(); ++skip) {
        require(tree.find(method, path, skip, match), "match", path);
        require(match.route == expected[skip].route, "route", path);
        const auto& parameters = expected[skip].parameters;
        require(match.parameter_count == parameters.size(), "parameter count", path);
        for (size_t index = 0; index < parameters.size(); ++index)
            require(match.parameters[index] == parameters[index], "parameter", path);
        const size_t names = tree.parameter_names(match.route).size();
        require(names == parameters.size(), "name count", path);
    }
    const auto past = static_cast<uint32_t>(expected.size());
    require(!tree.find(method, path, past, match), "end of candidates", path);
}

void run_line(RouteTree& tree, NaiveRoutes& naive, std::string_view line, uint32_t number) {
    if (line.size() < 2) return;
    const std::string method = method_of(line[1]);
    const std::string text{line.substr(2)};
    if (line[0] == '+')
        require(
            tree.add(method, text, number) == naive.add(method, text, number).value_or(no_route),
            "replaced route", line);
    else if (line[0] == '-')
        require(tree.remove(method, text) == naive.remove(method, text).value_or(no_route),
                "removed route", line);
    else
        compare_lookups(tree, naive, method, text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string_view input{reinterpret_cast<const char*>(data), size};
    RouteTree tree;
    NaiveRoutes naive;
    for (uint32_t number = 0; number < lines_max && !input.empty(); ++number) {
        const size_t end = std::min(input.find('\n'), input.size());
        run_line(tree, naive, input.substr(0, end), number);
        input.remove_prefix(std::min(end + 1, input.size()));
    }
    return 0;
}
