// Response heads: what the framing rules of RFC 9110 and 9112 say, as bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace millrace::http {

// Reason phrase of a status code (RFC 9110 section 15 and the IANA registry), or "" if unknown.
std::string_view reason_of(unsigned status);

// A field name is a token (RFC 9110 section 5.6.2) of at least one byte.
bool is_token(std::string_view text);

// A field value has no control bytes but HTAB (RFC 9110 section 5.5); bytes of 0x80 and above may
// stand. Vectorised, with a plain twin.
bool is_field_value(std::string_view text);
bool is_field_value_plain(std::string_view text);

// A status line's "200 OK" part: three digits 100 to 999, alone or followed by SP and a reason that
// is a field value. RFC 9112 section 4.
bool is_status(std::string_view text);

// IMF-fixdate of RFC 9110 section 5.6.7, e.g. "Sun, 06 Nov 1994 08:49:37 GMT". Always 29 bytes.
inline constexpr size_t http_date_bytes = 29;
void format_http_date(int64_t unix_seconds, char* out);

// Decimal digits of `value` at `out` (room for 20); returns the end.
char* format_decimal(uint64_t value, char* out);

// Lower-case hexadecimal digits of `value` at `out` (room for 16), then CR LF; returns the end.
// That is the head of a chunk: RFC 9112 section 7.1.
char* format_chunk_size(uint64_t value, char* out);

}  // namespace millrace::http
