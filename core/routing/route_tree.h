// The path tree: method and path in, route and parameters out.
//
// Patterns are split on '/'. A segment ":name" matches one non-empty segment; a segment that starts
// with '*' in last place matches the whole rest of the path, also an empty one ("/w/*" matches
// "/w/" but not "/w"), and in any other place it matches nothing; everything else matches byte for
// byte, with case, without decoding. The empty pattern matches nothing.
//
// A path is split likewise, so "/" is one empty segment and "/a//b" has an empty one in the middle.
// A path that does not start with '/' (the "*" and "host:port" of RFC 9112 section 3.2) is one
// segment.
//
// Precedence: the tree of the exact method is tried in whole before the tree of any method. Inside
// a tree and at each level: text, then parameter, then wildcard, with full backtracking. Parameters
// that differ in name only are tried in descending order of name, and so are wildcards. The order
// of registration has no influence.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millrace::routing {

using RouteId = uint32_t;
inline constexpr RouteId no_route = UINT32_MAX;

// Segments of a path that are looked at. A longer path matches nothing but a wildcard above that
// depth.
inline constexpr size_t segments_max = 100;

struct Match {
    RouteId route = no_route;
    uint32_t parameter_count = 0;
    std::array<std::string_view, segments_max> parameters;  // views into the path, in pattern order
};

class RouteTree {
  public:
    RouteTree();
    ~RouteTree();
    RouteTree(RouteTree&&) noexcept;
    RouteTree& operator=(RouteTree&&) noexcept;

    // Registers `route` (not no_route) for a method token ("GET"), or for every method if `method`
    // is empty. Returns the route that the same method and pattern had before, or no_route. The
    // first character of a pattern is taken as '/', whatever it is.
    RouteId add(std::string_view method, std::string_view pattern, RouteId route);

    // Takes a registration away; returns its route, or no_route if there was none.
    RouteId remove(std::string_view method, std::string_view pattern);

    // Finds the candidate number `skip` (0: the first) in order of precedence. False if there are
    // not as many; `match` is then unspecified. Allocates nothing. With `also`, the tree of that
    // method is tried behind that of `method` (HEAD is answered by GET: RFC 9110 section 9.3.2).
    bool find(std::string_view method, std::string_view path, uint32_t skip, Match& match,
              std::string_view also = {}) const;

    // Parameter names of the pattern that `route` was registered with, without the colon, in order.
    // If a route was registered with several patterns, those of the last. Valid until add() or
    // remove().
    std::span<const std::string> parameter_names(RouteId route) const;

    // Methods that have a route of their own for `path`, in order of their first registration; for
    // Allow (RFC 9110 section 10.2.1). Views are valid until add() or remove().
    std::vector<std::string_view> methods_for(std::string_view path) const;

  private:
    struct Node;
    struct MethodTree {
        std::string method;
        std::unique_ptr<Node> root;
    };
    struct Registration {
        std::string key;  // method and pattern
        std::vector<std::string> parameter_names;
    };
    class Search;

    // Methods of RFC 9110 section 9 and PATCH: their trees are found without comparing names.
    static constexpr size_t common_methods = 9;

    const Node* root_of(std::string_view method) const;
    Node& root_made(std::string_view method);
    void remember(RouteId route, std::string_view method, std::string_view pattern);
    void forget(RouteId route, std::string_view method, std::string_view pattern);

    std::unique_ptr<Node> any_;
    std::vector<MethodTree> methods_;                 // in order of their first registration
    std::array<const Node*, common_methods> common_;  // roots inside methods_, or nullptr
    std::unordered_map<RouteId, std::vector<Registration>> registrations_;
};

}  // namespace millrace::routing
