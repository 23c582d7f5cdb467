#include "core/http/field_rules.h"

#include "core/base/ascii.h"
#include "core/http/authority.h"

namespace millrace::http {
namespace {

// The highest integer that JavaScript's numbers hold exactly. Nobody sends more.
constexpr uint64_t length_bytes_max = (uint64_t{1} << 53) - 1;

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view whitespace = " \t";
    const size_t begin = text.find_first_not_of(whitespace);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(whitespace) - begin + 1);
}

// RFC 9110 section 5.6.1: a list is comma-separated, its empty members count for nothing.
template <class Visit>
void for_each_member(std::string_view list, const Visit& visit) {
    while (true) {
        const size_t comma = list.find(',');
        visit(trimmed(list.substr(0, comma)));
        if (comma == std::string_view::npos) return;
        list.remove_prefix(comma + 1);
    }
}

}  // namespace

// RFC 9112 section 3.2: the value may be empty.
HttpError note_uncommon_host(std::string_view value, FieldFacts& facts) {
    if (facts.has(FieldFacts::host)) return HttpError::bad_host;
    const auto bytes = PaddedBytes::promise(value.data(), value.size());
    if (!value.empty() && !is_authority(bytes, PortRule::optional)) return HttpError::bad_host;
    facts.bits |= FieldFacts::host;
    facts.host_value = value;
    return HttpError::none;
}

// RFC 9112 section 6.3. Where it offers to take equal duplicates as one we refuse: an ambiguous
// length is how smuggling starts.
HttpError note_content_length(std::string_view value, FieldFacts& facts) {
    if (facts.has(FieldFacts::content_length) || value.empty()) {
        return HttpError::bad_content_length;
    }
    uint64_t length = 0;
    for (const char digit : value) {
        if (!has_class(digit, digit_class)) return HttpError::bad_content_length;
        length = length * 10 + static_cast<uint64_t>(digit - '0');
        if (length > length_bytes_max) return HttpError::bad_content_length;
    }
    if (facts.has(FieldFacts::transfer_encoding)) return HttpError::length_conflict;
    facts.bits |= FieldFacts::content_length;
    facts.length_bytes = length;
    return HttpError::none;
}

// RFC 9112 section 6.1. A coding that we cannot undo, or one in HTTP/1.0, leaves the end of the
// body unknown.
HttpError note_transfer_encoding(std::string_view value, uint8_t minor_version, FieldFacts& facts) {
    const bool is_single = !facts.has(FieldFacts::transfer_encoding);
    if (!is_single || minor_version == 0 || !equals_folded(value, "chunked")) {
        return HttpError::bad_transfer_encoding;
    }
    if (facts.has(FieldFacts::content_length)) return HttpError::length_conflict;
    facts.bits |= FieldFacts::transfer_encoding;
    return HttpError::none;
}

void note_connection_list(std::string_view value, FieldFacts& facts) {
    for_each_member(value, [&](std::string_view option) {
        if (equals_folded(option, "close")) facts.bits |= FieldFacts::close;
        if (equals_folded(option, "keep-alive")) facts.bits |= FieldFacts::keep_alive;
        if (equals_folded(option, "upgrade")) facts.bits |= FieldFacts::upgrade_option;
    });
}

void note_expect(std::string_view value, FieldFacts& facts) {
    for_each_member(value, [&](std::string_view expectation) {
        if (equals_folded(expectation, "100-continue")) facts.bits |= FieldFacts::expects_continue;
    });
}

bool equals_any_case(std::string_view left, std::string_view right) {
    if (left.size() != right.size()) return false;
    for (size_t at = 0; at < left.size(); ++at) {
        if (to_lower(left[at]) != to_lower(right[at])) return false;
    }
    return true;
}

}  // namespace millrace::http
