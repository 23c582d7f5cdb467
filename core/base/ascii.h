// Text comparisons of protocols: ASCII only, no locale.
#pragma once

#include <cstddef>
#include <string_view>

namespace millrace {

constexpr char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

// Equal without regard to case. `lower` must be in lower case.
constexpr bool equals_lower(std::string_view text, std::string_view lower) {
    if (text.size() != lower.size()) return false;
    for (size_t index = 0; index < text.size(); ++index)
        if (to_lower(text[index]) != lower[index]) return false;
    return true;
}

// Whether a comma-separated list (RFC 9110 section 5.6.1) has `member`, which must be in lower
// case.
constexpr bool list_has(std::string_view list, std::string_view member) {
    while (!list.empty()) {
        const size_t comma = list.find(',');
        std::string_view one = list.substr(0, comma);
        while (!one.empty() && (one.front() == ' ' || one.front() == '\t'))
            one.remove_prefix(1);
        while (!one.empty() && (one.back() == ' ' || one.back() == '\t'))
            one.remove_suffix(1);
        if (equals_lower(one, member)) return true;
        if (comma == std::string_view::npos) return false;
        list.remove_prefix(comma + 1);
    }
    return false;
}

}  // namespace millrace
