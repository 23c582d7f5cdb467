// Request heads: bytes in, views and a verdict out. RFC 9112 sections 2 to 6, RFC 9110 section 5.
//
// Nothing is allocated or copied, no state is kept: a head that is not whole yet is parsed again
// from its start when more bytes have come (the limit on head bytes bounds that work). So the
// outcome never depends on how the bytes were split.
#pragma once

#include "core/base/bytes.h"
#include "core/base/verdict.h"
#include "core/http/method.h"
#include "millrace/field.h"
#include "millrace/http_error.h"
#include "millrace/limits.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace millrace::http {

using millrace::Field;

// RFC 9112 section 3.2.
enum class TargetForm : uint8_t { origin, absolute, authority, asterisk };

// How the body is framed. RFC 9112 section 6.3.
enum class BodyKind : uint8_t { none, length, chunked };

// All views point into the bytes given to parse_head() or into the field storage; only the "/" for
// the empty path of an absolute target is a constant.
struct RequestHead {
    std::string_view method;
    std::string_view target;  // as received
    std::string_view path;   // origin and absolute form: without the query, "/" if empty; authority
                             // form: host:port; asterisk form: "*"
    std::string_view query;  // behind '?', without it
    std::string_view authority;  // absolute form: that of the target; else the Host value
    std::span<const Field> fields;
    uint64_t content_length = 0;  // 0 to 2^53 - 1; only for BodyKind::length
    Method method_id = Method::other;
    TargetForm form = TargetForm::origin;
    BodyKind body = BodyKind::none;
    uint8_t minor_version = 1;  // 0 for HTTP/1.0; 1 for HTTP/1.1 and above
    bool has_query = false;     // a '?' was there
    // RFC 9112 section 9.3: false if Connection has the option close, or in HTTP/1.0 lacks
    // keep-alive.
    bool keep_alive = true;
    // Expect has the member 100-continue (in any case), HTTP/1.1, and a body is to come.
    bool expects_continue = false;
    // Connection has the option upgrade (in any case), there is an Upgrade field, and HTTP/1.1.
    bool upgrade = false;
};

struct HeadStep {
    Verdict verdict = Verdict::need_more;
    uint32_t consumed_bytes = 0;  // on complete: up to the first byte behind the head
    HttpError error = HttpError::none;
};

// Parses the request head at the start of `received`. `storage` takes the field lines; its size
// must be at least limits.fields_max. On complete every member of `head` has been set, whatever it
// was before; otherwise `head` means nothing.
//
// Empty lines (CR LF) before the request line are skipped (RFC 9112 section 2.2). They count as
// head bytes. On need_more nothing is consumed.
HeadStep parse_head(PaddedBytes received, const HttpLimits& limits, std::span<Field> storage,
                    RequestHead& head);

// First value of the field `name` (any case), or nullptr.
const std::string_view* find_field(std::span<const Field> fields, std::string_view name);

}  // namespace millrace::http
