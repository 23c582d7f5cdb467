// The bytes that a server answers every time, learned from one parsed response. Only the value of
// the Date field may change. Comparing is one memcmp for a response, and that is what keeps the
// load generator cheaper than the servers it measures.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::load {

class ResponseTemplate {
  public:
    static constexpr size_t date_bytes = 29;

    // `date_offset` is where the 29 bytes of the Date value begin in `response`.
    void learn(std::string_view response, std::optional<size_t> date_offset);

    size_t size() const { return bytes_.size(); }  // 0 until something was learned
    const std::string& bytes() const { return bytes_; }

    // True if the size() bytes at `response` are the learned response, perhaps with another date.
    bool matches(const char* response) {
        return std::memcmp(response, bytes_.data(), bytes_.size()) == 0 ||
               matches_with_new_date(response);
    }

  private:
    bool matches_with_new_date(const char* response);

    std::string bytes_;  // always with the date seen last
    std::optional<size_t> date_offset_;
};

// True for the fixed-length date of RFC 9110 section 5.6.7, such as "Sun, 06 Nov 1994 08:49:37
// GMT".
bool is_imf_fixdate(std::string_view text);

}  // namespace millrace::load
