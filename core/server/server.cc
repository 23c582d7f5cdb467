#include "core/server/server.h"

#include "core/base/assert.h"
#include "core/net/sys.h"
#include "core/server/connection.h"

#include <algorithm>
#include <stdexcept>

namespace millrace::server {

namespace {

void check_limits(const HttpLimits& limits, const ReceiveArena& arena) {
    constexpr uint32_t count_max = 65535;
    constexpr size_t head_bytes_min = 64, head_bytes_max = 16 * MiB;
    const auto check = [](bool is_inside, const char* what) {
        if (!is_inside) throw std::invalid_argument(what);
    };
    check(limits.head_bytes_max >= head_bytes_min && limits.head_bytes_max <= head_bytes_max,
          "head_bytes_max must be 64 to 16 MiB");
    check(limits.head_bytes_max + Connection::read_bytes_min <= arena.room_max(),
          "head_bytes_max is too much for the receive arena");
    check(limits.fields_max >= 1 && limits.fields_max <= count_max,
          "fields_max must be 1 to 65535");
    check(limits.pipeline_max >= 1 && limits.pipeline_max <= count_max,
          "pipeline_max must be 1 to 65535");
}

}  // namespace

Server::Server(ServerLoop& loop, Handler& handler, const ServerSettings& settings)
    : loop_(loop), handler_(handler), settings_(settings) {
    check_limits(settings.limits, loop.arena());
}

Server::~Server() { close(); }

int Server::listen(const std::string& host, uint16_t port, PortSharing sharing, uint32_t& id) {
    const net::ListenOptions options{.host = host,
                                     .port = port,
                                     .sharing = sharing == PortSharing::shared
                                                    ? net::PortSharing::shared
                                                    : net::PortSharing::exclusive};
    int error = 0;
    auto listener = net::Listener::open(
        loop_.events(), options, [this](int fd) { accept(fd); }, error);
    if (!listener) return error;
    id = next_listener_++;
    has_listened_ = true;
    listeners_.emplace(id, std::move(listener));
    ++loop_.counters().listeners;
    return 0;
}

bool Server::close_listener(uint32_t id) {
    const auto found = listeners_.find(id);
    if (found == listeners_.end()) return false;
    found->second->close();
    // It may be the one that is accepting right now.
    loop_.events().dispose(std::move(found->second));
    listeners_.erase(found);
    --loop_.counters().listeners;
    return true;
}

void Server::close_listeners() {
    while (!listeners_.empty())
        close_listener(listeners_.begin()->first);
}

int Server::local_port(uint32_t id) const {
    const auto found = listeners_.find(id);
    return found == listeners_.end() ? -1 : found->second->local_port();
}

void Server::close() {
    close_listeners();
    while (connections_)
        connections_->close();
}

void Server::accept(int fd) {
    ++counters_.accepted;
    (new Connection(*this, fd))->start();  // owned by the loop from here on
}

void Server::add(Connection& connection) {
    connection.next_ = connections_;
    if (connections_) connections_->previous_ = &connection;
    connections_ = &connection;
    ++counters_.connections;
    loop_.note_opened();
}

void Server::remove(Connection& connection) {
    if (connection.next_) connection.next_->previous_ = connection.previous_;
    (connection.previous_ ? connection.previous_->next_ : connections_) = connection.next_;
    connection.next_ = connection.previous_ = nullptr;
    --counters_.connections;
    loop_.note_closed();
}

routing::RouteId Server::add_route(std::string_view method, std::string_view pattern,
                                   routing::RouteId route) {
    memo_.forget();
    return routes_.add(method, pattern, route);
}

routing::RouteId Server::remove_route(std::string_view method, std::string_view pattern) {
    memo_.forget();
    return routes_.remove(method, pattern);
}

bool Server::find_route(RequestRecord& request, uint32_t candidate) {
    const http::Method method_id = request.head.method_id;
    const bool is_memorable = candidate == 0 && method_id != http::Method::other;
    request.candidate = candidate;
    request.is_yielding = false;
    request.parameters = {};
    if (is_memorable) {
        request.route = memo_.find(static_cast<uint8_t>(method_id), request.head.path);
        if (request.route != routing::no_route) return true;
    }
    routing::Match& match = loop_.scratch_match();
    const bool is_head = method_id == http::Method::head;
    const std::string_view also = is_head && settings_.head_from_get ? "GET" : "";
    if (!routes_.find(request.head.method, request.head.path, candidate, match, also)) return false;
    request.route = match.route;
    if (match.parameter_count > 0) {
        auto room = loop_.parameters.room(match.parameter_count);
        std::copy_n(match.parameters.begin(), match.parameter_count, room.begin());
        loop_.parameters.take(match.parameter_count);
        request.parameters = room;
    } else if (is_memorable) {
        memo_.remember(static_cast<uint8_t>(method_id), request.head.path, match.route);
    }
    return true;
}

void Server::dispatch(Exchange& exchange, RequestRecord& request) {
    if (!find_route(request, 0)) return answer_not_found(exchange, request);
    loop_.count_event();
    handler_.on_request(exchange, request);
}

// The list for Allow (RFC 9110 section 10.2.1); empty if the request's method has routes, which
// have all yielded.
std::string Server::allowed_methods(const RequestRecord& request) const {
    const auto methods = routes_.methods_for(request.head.path);
    const auto has = [&](std::string_view method) {
        return std::find(methods.begin(), methods.end(), method) != methods.end();
    };
    const bool adds_head = settings_.head_from_get && has("GET") && !has("HEAD");
    if (has(request.head.method) || (adds_head && request.head.method == "HEAD")) return {};
    std::string list;
    for (const std::string_view method : methods) {
        if (method == "CONNECT") continue;  // its target is an authority, never a path
        if (!list.empty()) list += ", ";
        list += method;
        if (adds_head && method == "GET") list += ", HEAD";
    }
    return list;
}

void Server::answer_not_found(Exchange& exchange, const RequestRecord& request) {
    ResponseHead& head = exchange.head();
    const std::string allowed =
        settings_.method_not_allowed ? allowed_methods(request) : std::string{};
    head.clear();
    head.set_status(allowed.empty() ? "404" : "405");
    if (!allowed.empty()) head.add_field("Allow", allowed);
    head.add_field("content-type", "text/plain");
    exchange.end(allowed.empty() ? "Not Found" : "Method Not Allowed");
}

}  // namespace millrace::server
