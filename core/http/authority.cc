#include "core/http/authority.h"

#include "core/http/text_kernels.h"

namespace millrace::http {
namespace {

constexpr size_t port_digits_max = 5;
constexpr unsigned port_max = 65535;

// Index behind the host at the start of `text`, or 0 if there is none.
size_t find_name_host_end(PaddedBytes text) {
    size_t at = find_class_end(text, 0, host_class);
    // RFC 3986 section 2.1: pct-encoded.
    while (at < text.size() && text.data()[at] == '%') {
        if (text.size() - at < 3) return 0;
        if (!has_class(text.data()[at + 1], hex_class)) return 0;
        if (!has_class(text.data()[at + 2], hex_class)) return 0;
        at = find_class_end(text, at + 3, host_class);
    }
    return at;
}

size_t find_literal_end(PaddedBytes text) {
    const size_t close = find_class_end(text, 1, literal_class);
    if (close == 1 || close == text.size() || text.data()[close] != ']') return 0;
    return close + 1;
}

bool is_port(PaddedBytes digits, PortRule rule) {
    if (digits.empty()) return rule == PortRule::optional;
    if (digits.size() > port_digits_max) return false;
    unsigned port = 0;
    for (const char digit : digits) {
        if (!has_class(digit, digit_class)) return false;
        port = port * 10 + static_cast<unsigned>(digit - '0');
    }
    return port <= port_max;
}

}  // namespace

bool is_authority(PaddedBytes text, PortRule port_rule) {
    if (text.empty()) return false;
    const size_t end = *text.data() == '[' ? find_literal_end(text) : find_name_host_end(text);
    if (end == 0) return false;
    if (end == text.size()) return port_rule == PortRule::optional;
    return text.data()[end] == ':' && is_port(text.from(end + 1), port_rule);
}

}  // namespace millrace::http
