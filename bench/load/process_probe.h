// What /proc tells about the server process. Everything is zero if there is no such process.
#pragma once

#include <cstdint>
#include <vector>

namespace millrace::load {

struct CpuSample {
    int64_t cpu_ns = 0;  // on a CPU, all threads that live now
    uint64_t switches_voluntary = 0;
    uint64_t switches_forced = 0;
};

struct MemorySample {
    uint64_t rss_bytes = 0;
    uint64_t rss_peak_bytes = 0;  // since the process began
};

// The scheduler accounts a running thread at every tick, so the CPU time may lag by a few
// milliseconds: windows should last a second or longer.
CpuSample sample_cpu(int pid);

MemorySample sample_memory(int pid);

// What a CPU of the machine has done since the system started, whoever asked for it.
struct MachineCpuSample {
    double busy_s = 0;
    double steal_s = 0;  // taken by the host
};

// One for each CPU. The kernel counts in steps of 10 ms.
std::vector<MachineCpuSample> sample_machine();

}  // namespace millrace::load
