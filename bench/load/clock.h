// The two clocks of a measurement, both in nanoseconds.
#pragma once

#include <time.h>

#include <cstdint>

namespace millrace::load {

inline int64_t read_clock_ns(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline int64_t monotonic_ns() { return read_clock_ns(CLOCK_MONOTONIC); }
inline int64_t own_cpu_ns() { return read_clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace millrace::load
