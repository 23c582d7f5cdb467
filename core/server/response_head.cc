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

bool is_final_status(std::string_view text) { return http::is_status(text) && text.front() != '1'; }

FieldFault fault_of_field(std::string_view name, std::string_view value) {
    if (!http::is_token(name)) return FieldFault::name;
    if (!http::is_field_value(value)) return FieldFault::value;
    constexpr std::string_view framing = "transfer-encoding";
    const bool is_framing = name.size() == framing.size() && equals_lower(name, framing);
    return is_framing && !equals_lower(value, "chunked") ? FieldFault::transfer_encoding
                                                         : FieldFault::none;
}

void ResponseHead::set_status(std::string_view wanted) {
    status =
        static_cast<uint16_t>((wanted[0] - '0') * 100 + (wanted[1] - '0') * 10 + (wanted[2] - '0'));
    status_line = "HTTP/1.1 ";
    status_line += wanted;
    if (wanted.size() == 3) {
        status_line += ' ';
        status_line += http::reason_of(status);
    }
    status_line += "\r\n";
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
    constexpr size_t punctuation_bytes = 4;
    char* out = fields.begin(name.size() + value.size() + punctuation_bytes);
    out = fields.put(out, name);
    out = fields.put(out, ": ");
    out = fields.put(out, value);
    fields.commit(fields.put(out, "\r\n"));
}

void ResponseHead::clear() {
    fields.clear();
    declared_length.reset();
    status = 0;
    closes = has_connection = has_date = false;
}

}  // namespace millrace::server
