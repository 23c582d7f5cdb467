// What can be wrong with a request, as one table: code, status of the answer, name, and a text that
// is safe to show the peer. JavaScript's codes (ERR_MILLRACE_...) come from the same names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace millrace {

enum class HttpError : uint8_t {
    none,
    bad_request_line,       // RFC 9112 section 3
    bad_method,             // RFC 9110 section 9.1: a method is a token
    bad_target,             // RFC 9112 section 3.2
    target_too_long,        // RFC 9110 section 15.5.15
    bad_version,            // RFC 9112 section 2.3
    version_not_supported,  // RFC 9110 section 15.6.6
    bad_line_ending,        // RFC 9112 section 2.2
    bad_field_name,         // RFC 9112 section 5.1
    bad_field_value,        // RFC 9110 section 5.5
    obsolete_folding,       // RFC 9112 section 5.2
    head_too_large,         // RFC 6585 section 5
    too_many_fields,        // RFC 6585 section 5
    bad_host,               // RFC 9112 section 3.2: exactly one Host in HTTP/1.1
    bad_content_length,     // RFC 9112 section 6.3
    length_conflict,        // RFC 9112 section 6.1: Content-Length and Transfer-Encoding
    bad_transfer_encoding,  // RFC 9112 section 6.1
    bad_chunk_size,         // RFC 9112 section 7.1
    bad_chunk_ending,       // RFC 9112 section 7.1
    bad_chunk_extension,    // RFC 9112 section 7.1.1
    chunk_overhead,         // the limits on chunk_extension_bytes and chunk_overhead_percent
    bad_trailer,            // RFC 9112 section 7.1.2
    trailers_too_large,     // the limit on trailer_bytes
    head_timeout,           // RFC 9110 section 15.5.9
};

struct HttpErrorInfo {
    HttpError error;
    uint16_t status;
    std::string_view name;
    std::string_view text;
};

inline constexpr std::array http_errors{
    HttpErrorInfo{HttpError::none, 0, "none", ""},
    HttpErrorInfo{HttpError::bad_request_line, 400, "bad_request_line", "malformed request line"},
    HttpErrorInfo{HttpError::bad_method, 400, "bad_method", "the method is not a token"},
    HttpErrorInfo{HttpError::bad_target, 400, "bad_target", "malformed request target"},
    HttpErrorInfo{HttpError::target_too_long, 414, "target_too_long",
                  "the request target exceeds the limit"},
    HttpErrorInfo{HttpError::bad_version, 400, "bad_version", "malformed HTTP version"},
    HttpErrorInfo{HttpError::version_not_supported, 505, "version_not_supported",
                  "only HTTP/1.0 and HTTP/1.1 are spoken here"},
    HttpErrorInfo{HttpError::bad_line_ending, 400, "bad_line_ending", "a line must end in CR LF"},
    HttpErrorInfo{HttpError::bad_field_name, 400, "bad_field_name", "malformed field name"},
    HttpErrorInfo{HttpError::bad_field_value, 400, "bad_field_value", "malformed field value"},
    HttpErrorInfo{HttpError::obsolete_folding, 400, "obsolete_folding",
                  "a field value must not span lines"},
    HttpErrorInfo{HttpError::head_too_large, 431, "head_too_large",
                  "the request head exceeds the limit"},
    HttpErrorInfo{HttpError::too_many_fields, 431, "too_many_fields",
                  "the request has more fields than the limit"},
    HttpErrorInfo{HttpError::bad_host, 400, "bad_host", "exactly one valid Host is required"},
    HttpErrorInfo{HttpError::bad_content_length, 400, "bad_content_length",
                  "malformed Content-Length"},
    HttpErrorInfo{HttpError::length_conflict, 400, "length_conflict",
                  "two body lengths were given"},
    HttpErrorInfo{HttpError::bad_transfer_encoding, 400, "bad_transfer_encoding",
                  "the only transfer coding spoken here is chunked"},
    HttpErrorInfo{HttpError::bad_chunk_size, 400, "bad_chunk_size", "malformed chunk size"},
    HttpErrorInfo{HttpError::bad_chunk_ending, 400, "bad_chunk_ending",
                  "a chunk must end in CR LF"},
    HttpErrorInfo{HttpError::bad_chunk_extension, 400, "bad_chunk_extension",
                  "malformed chunk extension"},
    HttpErrorInfo{HttpError::chunk_overhead, 400, "chunk_overhead",
                  "chunk framing exceeds the limit"},
    HttpErrorInfo{HttpError::bad_trailer, 400, "bad_trailer", "malformed trailer section"},
    HttpErrorInfo{HttpError::trailers_too_large, 431, "trailers_too_large",
                  "the trailer section exceeds the limit"},
    HttpErrorInfo{HttpError::head_timeout, 408, "head_timeout", "the request head took too long"},
};

// Row of `error`. Never fails: each enumerator has its row, in order.
constexpr const HttpErrorInfo& info(HttpError error) {
    return http_errors[static_cast<size_t>(error)];
}

static_assert([] {
    for (size_t row = 0; row < http_errors.size(); ++row)
        if (static_cast<size_t>(http_errors[row].error) != row) return false;
    return http_errors.size() == static_cast<size_t>(HttpError::head_timeout) + 1;
}());

}  // namespace millrace
