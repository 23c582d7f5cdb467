#include "bench/load/generator.h"

#include "bench/load/clock.h"

#include <algorithm>

namespace millrace::load {
namespace {

constexpr int64_t second_ns = 1'000'000'000;
constexpr int64_t check_every_ns = second_ns / 10;
constexpr int64_t drain_max_ns = 5 * second_ns;

int64_t to_ns(double seconds) { return static_cast<int64_t>(seconds * 1e9); }

}  // namespace

Generator::Generator(const Options& options, std::vector<Lane>& lanes, Transport& transport)
    : options_(options), lanes_(lanes), transport_(transport) {}

Generator::~Generator() {
    for (Connection& connection : connections_) {
        if (connection.open()) transport_.drop(connection);
    }
}

Result Generator::run() {
    result_.transport = transport_.name();
    if (!connect_all()) return result_;
    start();
    while (phase_ != Phase::finished)
        wait_once();
    return result_;
}

bool Generator::connect_all() {
    for (Lane& lane : lanes_) {
        for (uint32_t i = 0; i < lane.connections; ++i) {
            Fd fd = connect_to(options_);
            if (!fd.open()) {
                result_.errors.add(ErrorKind::connect);
                return false;
            }
            transport_.add(connections_.emplace_back(std::move(fd), lane));
        }
    }
    open_ = connections_.size();
    return true;
}

void Generator::start() {
    now_ns_ = monotonic_ns();
    next_check_ns_ = now_ns_ + check_every_ns;
    boundary_ns_ = now_ns_ + to_ns(options_.warmup_s);
    if (options_.requests != 0) {
        budget_ = options_.requests;
        begin_window();
    }
    for (Connection& connection : connections_) {
        refill(connection, monotonic_ns());
    }
}

void Generator::wait_once() {
    transport_.wait(std::clamp<int64_t>(boundary_ns_ - now_ns_, 0, check_every_ns), *this);
    if (now_ns_ >= next_check_ns_) check_timeouts();
    if (open_ == 0 && phase_ == Phase::measuring) begin_drain();
    const bool drained = phase_ == Phase::draining && outstanding() == 0;
    if (drained || open_ == 0) phase_ = Phase::finished;
}

void Generator::on_wake() {
    now_ns_ = monotonic_ns();
    if (now_ns_ >= boundary_ns_) on_boundary();
}

void Generator::on_bytes(Connection& connection, std::string_view bytes) {
    const auto progress = connection.receive(bytes);
    if (phase_ == Phase::measuring) result_.bytes_in += bytes.size();
    on_completed(connection, progress);
    if (progress.error != ErrorKind::none) return on_failure(connection, progress.error);
    touched_.push_back(&connection);
}

void Generator::on_group_end() {
    if (touched_.empty()) return;
    const int64_t write_ns = monotonic_ns();
    for (Connection* connection : touched_)
        refill(*connection, write_ns);
    touched_.clear();
}

void Generator::on_completed(Connection& connection, const ResponseStream::Progress& progress) {
    Lane& lane = connection.lane();
    const bool measuring = phase_ == Phase::measuring;
    connection.complete(progress.completed, now_ns_, [&](int64_t latency_ns, uint32_t count) {
        if (measuring) lane.latency.record(latency_ns, count);
    });
    if (!measuring) return;
    lane.completed += progress.completed;
    lane.parsed += progress.parsed;
    result_.completed += progress.completed;
    // The last of a fixed number of requests ends the window.
    if (result_.completed == options_.requests) boundary_ns_ = 0;
}

void Generator::refill(Connection& connection, int64_t write_ns) {
    if (phase_ > Phase::measuring || !connection.open()) return;
    const Lane& lane = connection.lane();
    const uint32_t outstanding = connection.outstanding();
    if (options_.refill == Refill::batch && outstanding != 0) return;
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(lane.depth - outstanding, budget_));
    if (count == 0) return;
    if (options_.requests != 0) budget_ -= count;
    if (phase_ == Phase::measuring) result_.bytes_out += count * lane.request.size();
    connection.add_requests(count, write_ns);
    const ErrorKind error = transport_.flush(connection);
    if (error != ErrorKind::none) on_failure(connection, error);
}

void Generator::on_failure(Connection& connection, ErrorKind kind) {
    result_.errors.add(kind);
    transport_.drop(connection);
    connection.close();
    --open_;
    if (options_.requests != 0) boundary_ns_ = 0;  // the fixed number cannot be reached any more
}

void Generator::on_boundary() {
    switch (phase_) {
        case Phase::warming:
            return begin_window();
        case Phase::measuring:
            if (now_ns_ >= window_end_ns_ || boundary_ns_ == 0) return begin_drain();
            return tick();
        case Phase::draining:
            result_.undrained = outstanding();
            result_.errors.add(ErrorKind::timeout, result_.undrained);
            phase_ = Phase::finished;
            return;
        case Phase::finished:
            return;
    }
}

void Generator::begin_window() {
    result_.server_memory_before = sample_memory(options_.pid);
    result_.machine_before = sample_machine();
    result_.server_cpu_before = sample_cpu(options_.pid);
    phase_ = Phase::measuring;
    cpu_begin_ns_ = own_cpu_ns();
    window_begin_ns_ = now_ns_ = monotonic_ns();
    const double duration_s = options_.requests != 0 ? 3600 : options_.duration_s;
    window_end_ns_ = window_begin_ns_ + to_ns(duration_s);
    boundary_ns_ = std::min(window_begin_ns_ + second_ns, window_end_ns_);
}

void Generator::tick() {
    result_.per_second.push_back(result_.completed - completed_at_tick_);
    completed_at_tick_ = result_.completed;
    boundary_ns_ = std::min(boundary_ns_ + second_ns, window_end_ns_);
}

void Generator::begin_drain() {
    phase_ = Phase::draining;
    result_.window_ns = now_ns_ - window_begin_ns_;
    result_.client_cpu_ns = own_cpu_ns() - cpu_begin_ns_;
    result_.server_cpu_after = sample_cpu(options_.pid);
    result_.machine_after = sample_machine();
    result_.server_memory_after = sample_memory(options_.pid);
    result_.in_flight_at_stop = outstanding();
    if (window_end_ns_ - window_begin_ns_ >= second_ns &&
        result_.window_ns / second_ns > static_cast<int64_t>(result_.per_second.size())) {
        result_.per_second.push_back(result_.completed - completed_at_tick_);
    }
    boundary_ns_ = now_ns_ + std::min(drain_max_ns, to_ns(options_.timeout_s));
}

void Generator::check_timeouts() {
    next_check_ns_ = now_ns_ + check_every_ns;
    const int64_t oldest_ns = now_ns_ - to_ns(options_.timeout_s);
    for (Connection& connection : connections_) {
        const bool waits = connection.open() && connection.outstanding() != 0;
        if (waits && connection.oldest_sent_ns() < oldest_ns)
            on_failure(connection, ErrorKind::timeout);
    }
}

uint64_t Generator::outstanding() const {
    uint64_t sum = 0;
    for (const Connection& connection : connections_) {
        if (connection.open()) sum += connection.outstanding();
    }
    return sum;
}

}  // namespace millrace::load
