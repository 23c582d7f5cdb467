// The closed loop: connects, warms up, measures, drains.
#pragma once

#include "bench/load/connection.h"
#include "bench/load/error_kind.h"
#include "bench/load/lane.h"
#include "bench/load/options.h"
#include "bench/load/process_probe.h"
#include "bench/load/transport.h"

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

namespace millrace::load {

struct Result {
    std::string_view transport;
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

class Generator final : Transport::Sink {
  public:
    // All must outlive the generator, and `transport` be new. The lanes must have learned their
    // responses; the histograms and counts in them are filled by run().
    Generator(const Options& options, std::vector<Lane>& lanes, Transport& transport);
    ~Generator() override;

    Result run();

  private:
    enum class Phase : uint8_t { warming, measuring, draining, finished };

    bool connect_all();
    void start();
    void wait_once();
    void on_wake() override;
    void on_bytes(Connection& connection, std::string_view bytes) override;
    void on_failure(Connection& connection, ErrorKind kind) override;
    void on_group_end() override;
    void on_completed(Connection& connection, const ResponseStream::Progress& progress);
    void refill(Connection& connection, int64_t write_ns);
    void on_boundary();
    void begin_window();
    void tick();
    void begin_drain();
    void check_timeouts();
    uint64_t outstanding() const;

    const Options& options_;
    std::vector<Lane>& lanes_;
    Result result_;
    Transport& transport_;
    std::deque<Connection> connections_;  // the transport keeps their addresses
    std::vector<Connection*> touched_;    // by bytes, since the last writes
    Phase phase_ = Phase::warming;
    int64_t now_ns_ = 0;       // when the transport last woke us
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
