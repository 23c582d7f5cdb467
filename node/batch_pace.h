// How many events JavaScript is given in one crossing, so that nobody's answer waits long for
// somebody else's handler: answers are written out between crossings.
//
// Fast handlers share a crossing of about half a millisecond, by a running estimate of what an
// event costs. A route that is slow, or has never been timed, gets a crossing of its own; so does
// every route of a crossing that took much longer than it should have, until it is timed.
#pragma once

#include "node/protocol.h"

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

namespace millrace::node {

class BatchPace {
  public:
    using Nanoseconds = std::chrono::nanoseconds;

    // What a crossing may cost, and what a route may cost to share one.
    static constexpr Nanoseconds budget{500'000};
    static constexpr Nanoseconds slow{100'000};

    // How many of the `events` the next crossing gets; at least one.
    uint32_t next_part(std::span<const EventWords> events) const;

    // A crossing with these events took that long.
    void note(std::span<const EventWords> events, Nanoseconds spent);

  private:
    bool runs_alone(const EventWords& event) const;
    void set_runs_alone(uint32_t route, bool runs_alone);

    float event_cost_ns_ = 0;  // running estimate
    // By route: whether it runs alone, and the running estimate of its cost.
    std::vector<uint8_t> runs_alone_;
    std::vector<float> route_cost_ns_;
};

}  // namespace millrace::node
