// Pinning the calling process.
#pragma once

#include <sched.h>

namespace millrace::load {

// False if this machine has no such CPU for us.
inline bool pin_to_cpu(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<size_t>(cpu), &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace millrace::load
