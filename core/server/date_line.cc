#include "core/server/date_line.h"

#include "core/http/response_encoder.h"

#include <cstring>

namespace millrace::server {

void DateLine::refresh(int64_t unix_seconds) {
    if (unix_seconds == rendered_) return;
    rendered_ = unix_seconds;
    std::memcpy(line_.data(), "Date: ", 6);
    http::format_http_date(unix_seconds, line_.data() + 6);
    std::memcpy(line_.data() + 6 + http::http_date_bytes, "\r\n", 2);
}

}  // namespace millrace::server
