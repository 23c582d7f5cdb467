// Conformance cases as documents: what README.md beside this file describes, read from markdown.
#pragma once

#include "millrace/limits.h"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::wire {

struct WireCase {
    std::string file;     // as given
    int line = 0;         // of the title
    int events_line = 0;  // of the first expected event
    std::string title;
    std::string wire;  // the bytes
    HttpLimits limits;
    std::vector<std::string> events;
};

// A case that cannot be read; what() starts with "file:line: ".
class WireCaseError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// The cases of one document. `file` is for messages only.
std::vector<WireCase> cases_of(const std::string& file, std::string_view markdown);

// The cases of every *.md below `folder` that has any, in order of path.
std::vector<WireCase> cases_below(const std::filesystem::path& folder);

// Printable ASCII as it is, everything else (and the backslash) as an escape that the blocks know.
std::string escaped(std::string_view bytes);

}  // namespace millrace::wire
