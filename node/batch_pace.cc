#include "node/batch_pace.h"

#include "node/protocol.h"

#include <algorithm>

namespace millrace::node {
namespace {

// Weight of the newest measurement.
constexpr float weight = 0.25F;
// A crossing over the budget by this factor makes its routes suspects.
constexpr int suspicion = 2;

bool is_request(const EventWords& event) {
    return event[0] == static_cast<uint32_t>(EventKind::request);
}

uint32_t route_of(const EventWords& event) { return event[2]; }

}  // namespace

bool BatchPace::runs_alone(const EventWords& event) const {
    if (!is_request(event)) return false;
    const uint32_t route = route_of(event);
    return route >= runs_alone_.size() || runs_alone_[route] != 0;
}

void BatchPace::set_runs_alone(uint32_t route, bool runs_alone) {
    if (route >= runs_alone_.size()) {
        runs_alone_.resize(route + 1, 1);
        route_cost_ns_.resize(route + 1, 0);
    }
    runs_alone_[route] = runs_alone ? 1 : 0;
}

uint32_t BatchPace::next_part(std::span<const EventWords> events) const {
    const auto count = static_cast<uint32_t>(events.size());
    const float affordable = static_cast<float>(budget.count()) / std::max(event_cost_ns_, 1.0F);
    const auto most = static_cast<uint32_t>(
        std::clamp(affordable, 1.0F, static_cast<float>(std::max(count, 1u))));
    if (runs_alone(events.front())) return 1;
    uint32_t part = 1;
    while (part < most && !runs_alone(events[part]))
        ++part;
    return part;
}

void BatchPace::note(std::span<const EventWords> events, Nanoseconds spent) {
    const auto count = static_cast<uint32_t>(events.size());
    const float cost_ns = static_cast<float>(spent.count()) / static_cast<float>(count);
    event_cost_ns_ += (cost_ns - event_cost_ns_) * weight;
    if (count == 1 && is_request(events.front())) {
        const uint32_t route = route_of(events.front());
        const bool is_new = route >= route_cost_ns_.size() || route_cost_ns_[route] == 0;
        set_runs_alone(route, false);
        float& cost = route_cost_ns_[route];
        cost = is_new ? cost_ns : cost + (cost_ns - cost) * weight;
        set_runs_alone(route, cost > static_cast<float>(slow.count()));
    } else if (spent > budget * suspicion) {
        for (const EventWords& event : events)
            if (is_request(event)) set_runs_alone(route_of(event), true);
    }
}

}  // namespace millrace::node
