// What an idle keep-alive connection costs the server in memory.
#pragma once

#include "bench/load/error_kind.h"
#include "bench/load/lane.h"
#include "bench/load/options.h"

#include <cstdint>

namespace millrace::load {

struct IdleResult {
    uint64_t connections = 0;  // that were open at the same time, each having had one response
    uint64_t rss_before_bytes = 0;
    uint64_t rss_idle_bytes = 0;   // while all are open
    uint64_t rss_after_bytes = 0;  // when all have been closed for options.hold_s
    int64_t open_ns = 0;           // time taken to open them
    ErrorCounts errors;

    double bytes_per_connection() const {
        if (connections == 0) return 0;
        return (static_cast<double>(rss_idle_bytes) - static_cast<double>(rss_before_bytes)) /
               static_cast<double>(connections);
    }
};

// Opens options.idle connections, asks once on each and checks the response, then holds them all
// idle. `lane` must have learned its response.
IdleResult run_idle(const Options& options, const Lane& lane);

}  // namespace millrace::load
