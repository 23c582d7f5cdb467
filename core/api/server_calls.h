// What App and Server say to the corridor alike.
#pragma once

#include "core/server/server.h"
#include "millrace/server.h"

namespace millrace {

inline server::ServerSettings settings_of(const ServerOptions& options, bool is_batched) {
    return {.limits = options.limits,
            .is_batched = is_batched,
            .head_from_get = options.head_from_get,
            .method_not_allowed = options.method_not_allowed};
}

// 0, or a negated errno.
inline int listen_on(server::Server& server, const ListenOptions& options, uint32_t& id) {
    const auto sharing = options.sharing == PortSharing::shared
                             ? server::Server::PortSharing::shared
                             : server::Server::PortSharing::exclusive;
    return server.listen(options.host, options.port, sharing, id);
}

inline ServerStats stats_of(server::Server& server) {
    const server::ServerCounters& counters = server.counters();
    return {
        .connections = counters.connections,
        .accepted = counters.accepted,
        .requests = counters.requests,
        .rejected = counters.rejected,
        .aborted = counters.aborted,
        .timeouts = counters.timeouts,
    };
}

}  // namespace millrace
