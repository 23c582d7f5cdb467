#include "core/server/response_head.h"

#include "core/base/ascii.h"
#include "core/http/response_encoder.h"

namespace millrace::server {
namespace {

std::optional<uint64_t> parse_length(std::string_view digits) {
    if (digits.empty() || digits.size() > 16) return {};
    uint64_t value = 0;
    for (const char digit : digits) {
        if (digit < '0' || digit > '9') return {};
        value = value * 10 + static_cast<uint64_t>(digit - '0');
    }
    return value;
}

}  // namespace

void ResponseHead::set_status(std::string_view wanted) {
    status =
        static_cast<uint16_t>((wanted[0] - '0') * 100 + (wanted[1] - '0') * 10 + (wanted[2] - '0'));
    std::string line = "HTTP/1.1 ";
    line += wanted;
    if (wanted.size() == 3) {
        line += ' ';
        line += http::reason_of(status);
    }
    line += "\r\n";
    if (text.empty())
        text = std::move(line);
    else
        text.replace(0, default_line.size(), line);  // fields were added first
}

void ResponseHead::add_field(std::string_view name, std::string_view value) {
    switch (name.size()) {
        case 4:
            has_date |= equals_lower(name, "date");
            break;
        case 10:
            if (equals_lower(name, "connection")) {
                has_connection = true;
                closes |= list_has(value, "close");
            }
            break;
        case 14:
            if (equals_lower(name, "content-length")) {
                declared_length = parse_length(value);
                return;
            }
            break;
        case 17:
            if (equals_lower(name, "transfer-encoding")) return;
            break;
        default:
            break;
    }
    if (text.empty()) text = default_line;
    text.append(name).append(": ").append(value).append("\r\n");
}

void ResponseHead::clear() {
    constexpr size_t kept_bytes = 1024;
    if (text.capacity() > kept_bytes)
        text = {};
    else
        text.clear();
    declared_length.reset();
    status = 0;
    closes = has_connection = has_date = false;
}

}  // namespace millrace::server
