// The Date field, rendered once a second. RFC 9110 section 6.6.1.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace millrace::server {

class DateLine {
  public:
    static constexpr size_t bytes = 37;  // "Date: " + 29 + CR LF

    // Renders anew if the second has changed.
    void refresh(int64_t unix_seconds);

    const char* data() const { return line_.data(); }

  private:
    std::array<char, bytes> line_{};
    int64_t rendered_ = -1;
};

}  // namespace millrace::server
