// What the replacement of sys.h works on in this thread. Set by TestNetwork; nobody else needs it.
#pragma once

#include "core/testing/faults.h"
#include "core/testing/loopback_calls.h"
#include "core/testing/memory_calls.h"

#include <cstdint>
#include <set>
#include <variant>

namespace millrace::testing {

struct Environment {
    std::variant<MemoryCalls, LoopbackCalls> calls;
    Faults* faults = nullptr;
    std::set<int> descriptors;  // open ones that the code under test was given
    uint64_t activity = 0;      // calls that moved something
    uint64_t memory_releases = 0;
};

// nullptr: real system calls, no faults, the real clock.
inline thread_local Environment* environment = nullptr;

}  // namespace millrace::testing
