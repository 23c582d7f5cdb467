// The last answers of the path tree, for paths without parameters: most servers get a few paths
// again and again. Direct-mapped; a path that evicts another one costs a walk through the tree,
// nothing else.
#pragma once

#include "core/routing/route_tree.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace millrace::routing {

class RouteMemo {
  public:
    static constexpr size_t path_bytes_max = 40;

    // `method` is any small number that stands for the method. no_route if it is not remembered.
    RouteId find(uint8_t method, std::string_view path) const {
        const Entry& entry = entries_[index_of(method, path)];
        const bool is_same = entry.method == method && entry.path_bytes == path.size() &&
                             std::memcmp(entry.path, path.data(), path.size()) == 0;
        return is_same ? entry.route : no_route;
    }

    void remember(uint8_t method, std::string_view path, RouteId route) {
        if (path.empty() || path.size() > path_bytes_max) return;
        Entry& entry = entries_[index_of(method, path)];
        entry.route = route;
        entry.method = method;
        entry.path_bytes = static_cast<uint8_t>(path.size());
        std::memcpy(entry.path, path.data(), path.size());
    }

    // To be called whenever a route is added or removed.
    void forget() { entries_ = {}; }

  private:
    static constexpr size_t entry_count = 64;

    struct Entry {
        RouteId route = no_route;
        uint8_t method = 0;
        uint8_t path_bytes = 0;  // 0: empty
        char path[path_bytes_max] = {};
    };

    static size_t index_of(uint8_t method, std::string_view path) {
        if (path.empty()) return 0;
        const auto byte = [&](size_t at) { return static_cast<size_t>(path[at]); };
        const size_t mixed =
            path.size() * 31 + byte(path.size() - 1) * 7 + byte(path.size() / 2) * 5 + method;
        return mixed % entry_count;
    }

    std::array<Entry, entry_count> entries_;
};

}  // namespace millrace::routing
