// What the fields of a request head say about the message: RFC 9112 sections 3.2, 6.1, 6.2 and 9.3,
// RFC 9110 sections 7.6.1, 7.8 and 10.1.1. Part of the head parser.
#pragma once

#include "core/http/head_parser.h"
#include "core/http/text_kernels.h"

#include <string_view>

namespace millrace::http {

// What the field lines so far have said.
struct FieldFacts {
    static constexpr unsigned host = 1;
    static constexpr unsigned content_length = 2;
    static constexpr unsigned transfer_encoding = 4;
    static constexpr unsigned close = 8;
    static constexpr unsigned keep_alive = 16;
    static constexpr unsigned upgrade_option = 32;
    static constexpr unsigned upgrade_field = 64;
    static constexpr unsigned expects_continue = 128;

    unsigned bits = 0;
    uint64_t length_bytes = 0;
    std::string_view host_value;

    bool has(unsigned bit) const { return (bits & bit) != 0; }
};

HttpError note_uncommon_host(std::string_view value, FieldFacts& facts);
HttpError note_content_length(std::string_view value, FieldFacts& facts);
HttpError note_transfer_encoding(std::string_view value, uint8_t minor_version, FieldFacts& facts);
void note_connection_list(std::string_view value, FieldFacts& facts);
void note_expect(std::string_view value, FieldFacts& facts);

// RFC 9112 section 3.2: exactly one.
inline HttpError note_host(std::string_view value, FieldFacts& facts) {
    const auto bytes = PaddedBytes::promise(value.data(), value.size());
    if (facts.has(FieldFacts::host) || kind_of_host(bytes) != HostKind::common) {
        return note_uncommon_host(value, facts);
    }
    facts.bits |= FieldFacts::host;
    facts.host_value = value;
    return HttpError::none;
}

inline void note_connection(std::string_view value, FieldFacts& facts) {
    if (equals_folded(value, "keep-alive")) {
        facts.bits |= FieldFacts::keep_alive;
    } else {
        note_connection_list(value, facts);
    }
}

// Takes one field line, after the request line has been put into `head`. Its views must lie inside
// the received bytes.
inline HttpError note_field(const Field& field, const RequestHead& head, FieldFacts& facts) {
    const char* const name = field.name.data();
    switch (field.name.size()) {
        case 4:
            if (equals_folded(name, "host")) return note_host(field.value, facts);
            break;
        case 6:
            if (equals_folded(name, "expect")) note_expect(field.value, facts);
            break;
        case 7:
            if (equals_folded(name, "upgrade")) facts.bits |= FieldFacts::upgrade_field;
            break;
        case 10:
            if (equals_folded(name, "connection")) note_connection(field.value, facts);
            break;
        case 14:
            if (equals_folded(name, "content-length")) {
                return note_content_length(field.value, facts);
            }
            break;
        case 17:
            if (equals_folded(name, "transfer-encoding")) {
                return note_transfer_encoding(field.value, head.minor_version, facts);
            }
            break;
        default:
            break;
    }
    return HttpError::none;
}

// RFC 9112 sections 6.3 and 9.3.
inline void apply_uncommon_facts(const FieldFacts& facts, RequestHead& head) {
    const bool is_old = head.minor_version == 0;
    head.body = facts.has(FieldFacts::transfer_encoding) ? BodyKind::chunked
                : facts.has(FieldFacts::content_length)  ? BodyKind::length
                                                         : BodyKind::none;
    head.keep_alive =
        !facts.has(FieldFacts::close) && (!is_old || facts.has(FieldFacts::keep_alive));
    // RFC 9110 sections 10.1.1 and 7.8: both are ignored in HTTP/1.0.
    const bool has_content = head.body == BodyKind::chunked || head.content_length != 0;
    head.expects_continue = facts.has(FieldFacts::expects_continue) && has_content && !is_old;
    head.upgrade =
        facts.has(FieldFacts::upgrade_option) && facts.has(FieldFacts::upgrade_field) && !is_old;
}

// Applies the facts of all fields to a head whose request line has been put in.
inline HttpError apply_facts(const FieldFacts& facts, RequestHead& head) {
    // RFC 9112 section 3.2.2: the authority of an absolute-form target wins.
    if (head.form != TargetForm::absolute) head.authority = facts.host_value;
    head.content_length = facts.length_bytes;
    head.body = BodyKind::none;
    head.keep_alive = true;
    head.expects_continue = false;
    head.upgrade = false;
    constexpr unsigned harmless = FieldFacts::host | FieldFacts::keep_alive;
    if ((facts.bits & ~harmless) != 0 || head.minor_version == 0) apply_uncommon_facts(facts, head);
    const bool lacks_host = head.minor_version != 0 && !facts.has(FieldFacts::host);
    return lacks_host ? HttpError::bad_host : HttpError::none;
}

// True if the texts are equal but for the case of ASCII letters.
bool equals_any_case(std::string_view left, std::string_view right);

}  // namespace millrace::http
