#include "core/http/response_encoder.h"

#include "core/base/bytes.h"
#include "core/http/text_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace millrace::http {
namespace {

struct Reason {
    unsigned status;
    std::string_view text;
};

constexpr std::array reasons{
    Reason{100, "Continue"},
    Reason{101, "Switching Protocols"},
    Reason{102, "Processing"},
    Reason{103, "Early Hints"},
    Reason{200, "OK"},
    Reason{201, "Created"},
    Reason{202, "Accepted"},
    Reason{203, "Non-Authoritative Information"},
    Reason{204, "No Content"},
    Reason{205, "Reset Content"},
    Reason{206, "Partial Content"},
    Reason{207, "Multi-Status"},
    Reason{208, "Already Reported"},
    Reason{226, "IM Used"},
    Reason{300, "Multiple Choices"},
    Reason{301, "Moved Permanently"},
    Reason{302, "Found"},
    Reason{303, "See Other"},
    Reason{304, "Not Modified"},
    Reason{305, "Use Proxy"},
    Reason{307, "Temporary Redirect"},
    Reason{308, "Permanent Redirect"},
    Reason{400, "Bad Request"},
    Reason{401, "Unauthorized"},
    Reason{402, "Payment Required"},
    Reason{403, "Forbidden"},
    Reason{404, "Not Found"},
    Reason{405, "Method Not Allowed"},
    Reason{406, "Not Acceptable"},
    Reason{407, "Proxy Authentication Required"},
    Reason{408, "Request Timeout"},
    Reason{409, "Conflict"},
    Reason{410, "Gone"},
    Reason{411, "Length Required"},
    Reason{412, "Precondition Failed"},
    Reason{413, "Content Too Large"},
    Reason{414, "URI Too Long"},
    Reason{415, "Unsupported Media Type"},
    Reason{416, "Range Not Satisfiable"},
    Reason{417, "Expectation Failed"},
    Reason{421, "Misdirected Request"},
    Reason{422, "Unprocessable Content"},
    Reason{423, "Locked"},
    Reason{424, "Failed Dependency"},
    Reason{425, "Too Early"},
    Reason{426, "Upgrade Required"},
    Reason{428, "Precondition Required"},
    Reason{429, "Too Many Requests"},
    Reason{431, "Request Header Fields Too Large"},
    Reason{451, "Unavailable For Legal Reasons"},
    Reason{500, "Internal Server Error"},
    Reason{501, "Not Implemented"},
    Reason{502, "Bad Gateway"},
    Reason{503, "Service Unavailable"},
    Reason{504, "Gateway Timeout"},
    Reason{505, "HTTP Version Not Supported"},
    Reason{506, "Variant Also Negotiates"},
    Reason{507, "Insufficient Storage"},
    Reason{508, "Loop Detected"},
    Reason{510, "Not Extended"},
    Reason{511, "Network Authentication Required"},
};

constexpr unsigned known_status_max = 599;

// Row of `reasons` by status, plus one; 0 for the unknown.
constexpr auto reason_rows = [] {
    std::array<uint8_t, known_status_max + 1> rows{};
    for (size_t row = 0; row < reasons.size(); ++row) {
        rows[reasons[row].status] = static_cast<uint8_t>(row + 1);
    }
    return rows;
}();

constexpr auto digit_pairs = [] {
    std::array<char, 200> pairs{};
    for (size_t number = 0; number < 100; ++number) {
        pairs[2 * number] = static_cast<char>('0' + number / 10);
        pairs[2 * number + 1] = static_cast<char>('0' + number % 10);
    }
    return pairs;
}();

void put_pair(unsigned number, char* out) { std::memcpy(out, &digit_pairs[size_t{2} * number], 2); }

size_t decimal_digits(uint64_t value) {
    size_t digits = 1;
    for (; value >= 10'000; value /= 10'000) {
        digits += 4;
    }
    return digits + (value >= 10) + (value >= 100) + (value >= 1000);
}

struct CivilDate {
    unsigned year;
    unsigned month;  // 0 is January
    unsigned day;    // from 1
};

// The Gregorian calendar repeats every 400 years. Counted in years that begin on 1 March, a leap
// day is the last of its year, and month lengths run 31 30 31 30 31 twice over.
CivilDate date_of(uint64_t days_since_1970) {
    constexpr uint64_t days_from_march_0000 = 719'468;
    constexpr uint64_t days_per_cycle = 146'097;
    const uint64_t days = days_since_1970 + days_from_march_0000;
    const uint64_t in_cycle = days % days_per_cycle;
    const uint64_t year_in_cycle =
        (in_cycle - in_cycle / 1'460 + in_cycle / 36'524 - in_cycle / 146'096) / 365;
    const uint64_t in_year =
        in_cycle - (365 * year_in_cycle + year_in_cycle / 4 - year_in_cycle / 100);
    const uint64_t march_month = (5 * in_year + 2) / 153;
    const uint64_t day = in_year - (153 * march_month + 2) / 5 + 1;
    const uint64_t month = (march_month + 2) % 12;
    const uint64_t year = days / days_per_cycle * 400 + year_in_cycle + (month < 2 ? 1 : 0);
    return {static_cast<unsigned>(year), static_cast<unsigned>(month), static_cast<unsigned>(day)};
}

}  // namespace

std::string_view reason_of(unsigned status) {
    const unsigned row = status <= known_status_max ? reason_rows[status] : 0;
    return row == 0 ? std::string_view{} : reasons[row - 1].text;
}

bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(),
                                        [](char byte) { return has_class(byte, token_class); });
}

bool is_field_value_plain(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char byte) { return has_class(byte, value_class); });
}

bool is_field_value(std::string_view text) {
#if MILLRACE_SSE2_KERNELS
    // This text has no padding, so a short one is left to the twin, and the last block overlaps.
    if (text.size() < sse2::lane_bytes) return is_field_value_plain(text);
    const size_t last = text.size() - sse2::lane_bytes;
    for (size_t at = 0; at < last; at += sse2::lane_bytes) {
        if (sse2::mask_of(sse2::is_control(sse2::load(text.data() + at))) != 0) return false;
    }
    return sse2::mask_of(sse2::is_control(sse2::load(text.data() + last))) == 0;
#else
    return is_field_value_plain(text);
#endif
}

bool is_status(std::string_view text) {
    constexpr size_t code_bytes = 3;
    if (text.size() < code_bytes || text[0] == '0') return false;
    for (size_t at = 0; at < code_bytes; ++at) {
        if (!has_class(text[at], digit_class)) return false;
    }
    if (text.size() == code_bytes) return true;
    return text[code_bytes] == ' ' && is_field_value(text.substr(code_bytes + 1));
}

void format_http_date(int64_t unix_seconds, char* out) {
    constexpr std::string_view days = "SunMonTueWedThuFriSat";
    constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    constexpr int64_t year_9999_end = 253'402'300'799;
    constexpr unsigned day_seconds = 86'400;
    // The form has four digits for the year and none for a sign.
    const auto time = static_cast<uint64_t>(std::clamp<int64_t>(unix_seconds, 0, year_9999_end));
    const uint64_t day_number = time / day_seconds;
    const auto second = static_cast<unsigned>(time % day_seconds);
    const CivilDate date = date_of(day_number);
    std::memcpy(out, "Xxx, 00 Xxx 0000 00:00:00 GMT", http_date_bytes);
    constexpr unsigned thursday = 4;  // 1 January 1970
    std::memcpy(out, days.data() + (day_number + thursday) % 7 * 3, 3);
    put_pair(date.day, out + 5);
    std::memcpy(out + 8, months.data() + size_t{3} * date.month, 3);
    put_pair(date.year / 100, out + 12);
    put_pair(date.year % 100, out + 14);
    put_pair(second / 3600, out + 17);
    put_pair(second / 60 % 60, out + 20);
    put_pair(second % 60, out + 23);
}

char* format_decimal(uint64_t value, char* out) {
    char* const end = out + decimal_digits(value);
    char* at = end;
    while (value >= 100) {
        at -= 2;
        put_pair(static_cast<unsigned>(value % 100), at);
        value /= 100;
    }
    if (value >= 10) {
        put_pair(static_cast<unsigned>(value), at - 2);
    } else {
        at[-1] = static_cast<char>('0' + value);
    }
    return end;
}

char* format_chunk_size(uint64_t value, char* out) {
    const auto digits = static_cast<unsigned>(std::bit_width(value | 1) + 3) / 4;
    for (unsigned left = digits; left != 0; --left) {
        *out++ = "0123456789abcdef"[value >> (4 * (left - 1)) & 0xf];
    }
    *out++ = '\r';
    *out++ = '\n';
    return out;
}

}  // namespace millrace::http
