// What this machine can do at most: the generator against a canned server of its own.
#pragma once

#include "bench/load/options.h"

namespace millrace::load {

// Starts the canned server in a child process, loads it at depth 10 and 1, and prints both lines.
// Returns the exit code of the program.
int measure_ceiling(const Options& options);

}  // namespace millrace::load
