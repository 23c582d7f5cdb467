// The part of a response head that the program decides: status line and its own fields, encoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::server {

// Whoever adds to it has checked status, names and values (core/api does).
struct ResponseHead {
    std::string text;  // "HTTP/1.1 200 OK CRLF" and field lines; empty: 200 OK and no field yet
    std::optional<uint64_t> declared_length;  // a Content-Length that the program gave
    uint16_t status = 0;                      // 0: not set, which means 200
    bool closes = false;                      // Connection: close, or the program asked for it
    bool has_connection = false;              // the program wrote a Connection field
    bool has_date = false;                    // the program wrote a Date field

    static constexpr std::string_view default_line = "HTTP/1.1 200 OK\r\n";

    // `status` as in "404 Not Found", or "404" alone.
    void set_status(std::string_view status);
    void add_field(std::string_view name, std::string_view value);
    void clear();

    // Status line and lines as they go out.
    std::string_view lines() const { return text.empty() ? default_line : std::string_view{text}; }
};

}  // namespace millrace::server
