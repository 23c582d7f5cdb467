#include "bench/load/response_template.h"

#include <algorithm>
#include <array>

namespace millrace::load {

void ResponseTemplate::learn(std::string_view response, std::optional<size_t> date_offset) {
    bytes_ = response;
    const bool fits = date_offset && *date_offset + date_bytes <= bytes_.size() &&
                      is_imf_fixdate(response.substr(*date_offset, date_bytes));
    date_offset_ = fits ? date_offset : std::nullopt;
}

bool ResponseTemplate::matches_with_new_date(const char* response) {
    if (!date_offset_) return false;
    const size_t behind = *date_offset_ + date_bytes;
    if (std::memcmp(response, bytes_.data(), *date_offset_) != 0) return false;
    if (std::memcmp(response + behind, bytes_.data() + behind, bytes_.size() - behind) != 0) {
        return false;
    }
    const std::string_view date(response + *date_offset_, date_bytes);
    if (!is_imf_fixdate(date)) return false;
    bytes_.replace(*date_offset_, date_bytes, date);
    return true;
}

bool is_imf_fixdate(std::string_view text) {
    constexpr std::string_view shape = "Aaa, 00 Aaa 0000 00:00:00 GMT";
    constexpr std::array days{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (text.size() != shape.size()) return false;
    if (std::ranges::find(days, text.substr(0, 3)) == days.end()) return false;
    if (std::ranges::find(months, text.substr(8, 3)) == months.end()) return false;
    for (size_t i = 0; i < shape.size(); ++i) {
        const bool letter = shape[i] == 'A' || shape[i] == 'a';
        const bool digit = shape[i] == '0';
        if (digit && (text[i] < '0' || text[i] > '9')) return false;
        if (!letter && !digit && text[i] != shape[i]) return false;
    }
    return true;
}

}  // namespace millrace::load
