// The closed loop: connects, warms up, measures, drains.
#pragma once

#include "bench/load/connection.h"
#include "bench/load/error_kind.h"
#include "bench/load/lane.h"
#include "bench/load/options.h"
#include "bench/load/process_probe.h"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace millrace::load {

struct Result {
    ErrorCounts errors;  // of the whole run, warm-up and drain included
    int64_t window_ns = 0;
    uint64_t completed = 0;
    uint64_t bytes_in = 0;
    uint64_t bytes_out = 0;
    int64_t client_cpu_ns = 0;
    std::vector<uint64_t> per_second;  // completed in each whole second of the window
    CpuSample server_cpu_before;
    CpuSample server_cpu_after;
    MemorySample server_memory_before;
    MemorySample server_memory_after;
    std::vector<MachineCpuSample> machine_before;
    std::vector<MachineCpuSample> machine_after;
    uint64_t in_flight_at_stop = 0;
    uint64_t undrained = 0;
};

class Generator {
  public:
    // All must outlive the generator. The lanes must have learned their responses; the histograms
    // and counts in them are filled by run().
    Generator(const Options& options, std::vector<Lane>& lanes);

    Result run();

  private:
    enum class Phase : uint8_t { warming, measuring, draining, finished };

    bool connect_all();
    void start();
    void wait_once();
    void on_event(Connection& connection, uint32_t events);
    void on_completed(Connection& connection, const Connection::Received& received);
    void refill(Connection& connection, int64_t write_ns);
    void fail(Connection& connection, ErrorKind kind);
    void on_boundary();
    void begin_window();
    void tick();
    void begin_drain();
    void check_timeouts();
    uint64_t outstanding() const;

    const Options& options_;
    std::vector<Lane>& lanes_;
    Result result_;
    Fd epoll_;
    std::deque<Connection> connections_;  // addresses are kept in epoll
    std::vector<char> buffer_;
    Phase phase_ = Phase::warming;
    int64_t now_ns_ = 0;       // when the last epoll_wait returned
    int64_t boundary_ns_ = 0;  // when something has to happen next
    int64_t window_end_ns_ = 0;
    int64_t window_begin_ns_ = 0;
    int64_t cpu_begin_ns_ = 0;
    uint64_t completed_at_tick_ = 0;
    uint64_t budget_ = UINT64_MAX;  // requests that may still be sent
    int64_t next_check_ns_ = 0;
    size_t open_ = 0;
};

}  // namespace millrace::load
