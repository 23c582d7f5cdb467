// The results of a run as JSON and as one line for people.
#pragma once

#include "bench/load/generator.h"
#include "bench/load/idle.h"
#include "bench/load/lane.h"
#include "bench/load/options.h"

#include <string>
#include <vector>

namespace millrace::load {

std::string to_json(const Options& options, const std::vector<Lane>& lanes, const Result& result);
std::string to_line(const std::vector<Lane>& lanes, const Result& result);

std::string to_json(const IdleResult& result);
std::string to_line(const IdleResult& result);

}  // namespace millrace::load
