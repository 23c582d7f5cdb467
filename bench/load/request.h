// The bytes of the request that a lane sends again and again.
#pragma once

#include "bench/load/options.h"

#include <optional>
#include <string>
#include <string_view>

namespace millrace::load {

// One request for `path`, or the content of options.request_file. Nothing if the file cannot be
// read.
std::optional<std::string> build_request(const Options& options, std::string_view path);

// True if the request's method is HEAD.
bool is_head_request(std::string_view request);

}  // namespace millrace::load
