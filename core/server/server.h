// One server: routes, limits, listeners, and the connections they brought.
#pragma once

#include "core/net/listener.h"
#include "core/routing/route_memo.h"
#include "core/routing/route_tree.h"
#include "core/server/handler.h"
#include "core/server/request_record.h"
#include "core/server/server_loop.h"
#include "millrace/limits.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace millrace::server {

class Connection;

struct ServerSettings {
    HttpLimits limits;
    bool is_batched = false;
    bool head_from_get = true;
    bool method_not_allowed = true;
};

struct ServerCounters {
    uint64_t connections = 0;
    uint64_t accepted = 0;
    uint64_t requests = 0;
    uint64_t rejected = 0;
    uint64_t aborted = 0;
    uint64_t timeouts = 0;
};

class Server {
  public:
    Server(ServerLoop& loop, Handler& handler, const ServerSettings& settings);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    ServerLoop& loop() { return loop_; }
    Handler& handler() { return handler_; }
    const ServerSettings& settings() const { return settings_; }
    ServerCounters& counters() { return counters_; }
    const routing::RouteTree& routes() const { return routes_; }
    // As in RouteTree.
    routing::RouteId add_route(std::string_view method, std::string_view pattern,
                               routing::RouteId route);
    routing::RouteId remove_route(std::string_view method, std::string_view pattern);

    // An empty host: all interfaces. 0, or a negated errno.
    enum class PortSharing : uint8_t { exclusive, shared };
    int listen(const std::string& host, uint16_t port, PortSharing sharing, uint32_t& id);
    bool close_listener(uint32_t id);
    void close_listeners();
    int local_port(uint32_t id) const;

    // It has listened, and no longer does: open connections are let go with their next answer.
    bool is_draining() const { return has_listened_ && listeners_.empty(); }

    void close();

    // Finds the request's route, or its next one, and calls the handler; answers 404 or 405 if
    // there is none.
    bool find_route(RequestRecord& request, uint32_t candidate);
    void dispatch(Exchange& exchange, RequestRecord& request);
    void answer_not_found(Exchange& exchange, const RequestRecord& request);

    // A connection's own registration. An intrusive list: closing must not cost a search.
    void add(Connection& connection);
    void remove(Connection& connection);

  private:
    void accept(int fd);
    std::string allowed_methods(const RequestRecord& request) const;

    ServerLoop& loop_;
    Handler& handler_;
    ServerSettings settings_;
    ServerCounters counters_;
    routing::RouteTree routes_;
    routing::RouteMemo memo_;
    std::unordered_map<uint32_t, std::unique_ptr<net::Listener>> listeners_;
    uint32_t next_listener_ = 1;
    bool has_listened_ = false;
    Connection* connections_ = nullptr;
};

}  // namespace millrace::server
