// A lane: one kind of request with connections, a learned response and results of its own.
#pragma once

#include "bench/load/histogram.h"
#include "bench/load/options.h"
#include "bench/load/response_parser.h"
#include "bench/load/response_template.h"

#include <cstdint>
#include <string>
#include <vector>

namespace millrace::load {

struct Lane {
    std::string name;
    std::string path;
    uint32_t connections = 0;
    uint32_t depth = 1;
    std::string request;
    std::string block;  // `depth` copies of the request, so that one write carries them all
    Expectation expected;
    ResponseTemplate learned;

    // The measured window only.
    Histogram latency;
    uint64_t completed = 0;
    uint64_t parsed = 0;  // validated by the parser, not by the template
};

// The lanes that the options ask for; the first one is named "main". On failure `error` says why.
std::vector<Lane> build_lanes(const Options& options, std::string& error);

uint32_t total_connections(const std::vector<Lane>& lanes);

// Asks once for each lane, checks the responses and learns them. On failure says why in `error`.
bool learn_responses(std::vector<Lane>& lanes, const Options& options, std::string& error);

}  // namespace millrace::load
