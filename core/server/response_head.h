// The part of a response head that the program decides: status line and its own fields, encoded.
#pragma once

#include "core/base/small_text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::server {

// Three digits from 200 to 999, alone or followed by SP and a reason (RFC 9112 section 4). Interim
// answers (RFC 9110 section 15.2) are the engine's to send.
bool is_final_status(std::string_view text);

// What may be wrong with a field of the program's.
enum class FieldFault : uint8_t { none, name, value, transfer_encoding };
FieldFault fault_of_field(std::string_view name, std::string_view value);

// Whoever adds to it has checked status, names and values (core/api does).
struct ResponseHead {
    // Most programs' fields fit; a slot of the pool keeps that much.
    static constexpr size_t inline_bytes = 192;
    static constexpr std::string_view default_line = "HTTP/1.1 200 OK\r\n";

    std::optional<uint64_t> declared_length;  // a Content-Length that the program gave
    uint16_t status = 0;                      // 0: not set, which means 200
    bool closes = false;                      // a Connection field said close
    bool has_connection = false;              // the program wrote a Connection field
    bool has_date = false;                    // the program wrote a Date field
    SmallText<inline_bytes> fields;           // lines, each with CR LF
    std::string status_line;                  // with CR LF; empty: the default

    // `status` as in "404 Not Found", or "404" alone.
    void set_status(std::string_view status);
    void add_field(std::string_view name, std::string_view value);
    void clear();

    // Valid until set_status() or clear().
    std::string_view first_line() const { return status == 0 ? default_line : status_line; }
    bool is_success() const { return status == 0 || status / 100 == 2; }
    size_t size() const { return first_line().size() + fields.size(); }
};

}  // namespace millrace::server
