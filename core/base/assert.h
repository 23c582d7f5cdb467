// Assertions of our own invariants. Active in the dev, tsan, fuzz and coverage builds, gone in a
// release: a library does not end its host's process.
#pragma once

#if MILLRACE_ASSERTS
#include <cstdio>
#include <cstdlib>

#define MR_ASSERT(condition)                                                                       \
    ((condition)                                                                                   \
         ? static_cast<void>(0)                                                                    \
         : (std::fprintf(stderr, "%s:%d: invariant broken: %s\n", __FILE__, __LINE__, #condition), \
            std::abort()))
#else
#define MR_ASSERT(condition) static_cast<void>(0)
#endif
