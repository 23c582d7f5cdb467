// Response heads that JavaScript writes as lines.
#pragma once

#include "millrace/response.h"

#include <string_view>

namespace millrace::node {

// "200 OK", then "name: value", each ended by CR LF; the first may be empty. Throws Error as
// PreparedHead does.
inline PreparedHead head_of_lines(std::string_view lines) {
    PreparedHead head;
    bool is_first = true;
    while (!lines.empty()) {
        const size_t end = lines.find("\r\n");
        const std::string_view line = lines.substr(0, end);
        lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 2);
        if (is_first) {
            if (!line.empty()) head.status(line);
        } else if (const size_t colon = line.find(": "); colon != std::string_view::npos) {
            head.header(line.substr(0, colon), line.substr(colon + 2));
        }
        is_first = false;
    }
    return head;
}

}  // namespace millrace::node
