// What a fuzz target demands. Ends the process, so that the fuzzer keeps the input.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace millrace::fuzz {

inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

}  // namespace millrace::fuzz
