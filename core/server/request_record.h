// What the engine keeps of a request while its views are alive.
#pragma once

#include "core/http/head_parser.h"
#include "core/routing/route_tree.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace millrace::server {

class Server;

struct RequestRecord {
    http::RequestHead head;
    std::span<const std::string_view> parameters;  // in the pattern's order
    Server* server = nullptr;
    routing::RouteId route = routing::no_route;
    uint32_t candidate = 0;  // which match in order of precedence `route` is
    bool is_yielding = false;
};

}  // namespace millrace::server
