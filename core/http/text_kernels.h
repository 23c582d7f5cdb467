// Scanning kernels of the head parser. Each has a plain twin, which is its definition, and where
// the machine allows a vectorised one of the same signature; the name without a suffix is the one
// to call.
//
// All scan a PaddedBytes and may read up to 15 bytes past its end; what is there never counts.
#pragma once

#include "core/base/bytes.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

// MILLRACE_PLAIN_KERNELS=1 builds what other machines build, for tests.
#if defined(__SSE2__) && !MILLRACE_PLAIN_KERNELS
#include <emmintrin.h>
#define MILLRACE_SSE2_KERNELS 1
#endif

namespace millrace::http {

// Classes of bytes, as bits of byte_classes.
inline constexpr uint8_t token_class = 1;     // RFC 9110 section 5.6.2: tchar
inline constexpr uint8_t target_class = 2;    // may stand in a request target; 0x80 and above do
inline constexpr uint8_t value_class = 4;     // RFC 9110 section 5.5: field-vchar, SP, HTAB
inline constexpr uint8_t host_class = 8;      // RFC 3986 section 3.2.2: reg-name but '%' and ','
inline constexpr uint8_t literal_class = 16;  // RFC 3986 section 3.2.2: in an IPv6address
inline constexpr uint8_t hex_class = 32;      // HEXDIG in any case
inline constexpr uint8_t digit_class = 64;    // DIGIT
inline constexpr uint8_t alphanumeric_class = 128;  // ALPHA and DIGIT

inline constexpr std::array<uint8_t, 256> byte_classes = [] {
    std::array<uint8_t, 256> classes{};
    const auto add = [&](std::string_view bytes, unsigned bits) {
        for (const char byte : bytes) {
            auto& entry = classes[static_cast<uint8_t>(byte)];
            entry = static_cast<uint8_t>(entry | bits);
        }
    };
    for (unsigned byte = 0; byte < 256; ++byte) {
        const bool is_control = byte < 0x20 || byte == 0x7f;
        const char text[] = {static_cast<char>(byte)};
        if (!is_control && byte != ' ' && byte != '#') add({text, 1}, target_class);
        if (!is_control || byte == '\t') add({text, 1}, value_class);
    }
    add("0123456789", digit_class);
    add("0123456789abcdefABCDEF:.", literal_class);
    add("0123456789abcdefABCDEF", hex_class);
    constexpr std::string_view alphanumeric =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    add(alphanumeric, token_class | host_class | alphanumeric_class);
    add("!#$%&'*+-.^_`|~", token_class);
    add("-._~!$&'()*+;=", host_class);
    return classes;
}();

inline bool has_class(char byte, uint8_t bits) {
    return (byte_classes[static_cast<uint8_t>(byte)] & bits) != 0;
}

inline size_t find_class_end(PaddedBytes bytes, size_t at, uint8_t bits) {
    while (at < bytes.size() && has_class(bytes.data()[at], bits)) {
        ++at;
    }
    return at;
}

// Each finder returns the index of the first byte it looks for, or any number from the size on if
// there is none inside.

// First byte that is no token byte.
inline size_t find_token_end_plain(PaddedBytes bytes) {
    return find_class_end(bytes, 0, token_class);
}

inline constexpr size_t common_name_bytes_max = 16;

// Length of the run of letters and '-' at `at`, common_name_bytes_max at most. Reads so many bytes.
inline size_t common_name_bytes_plain(const char* at) {
    const auto is_common = [](char byte) {
        return byte == '-' ||
               (has_class(byte, alphanumeric_class) && !has_class(byte, digit_class));
    };
    size_t length = 0;
    while (length < common_name_bytes_max && is_common(at[length])) {
        ++length;
    }
    return length;
}

// First byte that may not stand in a field value.
inline size_t find_value_end_plain(PaddedBytes bytes) {
    return find_class_end(bytes, 0, value_class);
}

struct TargetScan {
    size_t end;         // index of the first byte that may not stand in a target
    size_t query_mark;  // index of the first '?' before it, or `end`
};

inline TargetScan scan_target_plain(PaddedBytes bytes) {
    const size_t end = find_class_end(bytes, 0, target_class);
    const size_t mark = bytes.text().substr(0, end).find('?');
    return {end, mark == std::string_view::npos ? end : mark};
}

// Whether a Host value is one of those that are nearly all there are and need no closer look:
// letters, digits, '.' and '-', alone or followed by ':' and 1 to 4 digits.
enum class HostKind : uint8_t { common, other };

inline constexpr size_t common_port_digits_max = 4;

inline HostKind kind_of_host_plain(PaddedBytes bytes) {
    const auto is_common = [](char byte) {
        return has_class(byte, alphanumeric_class) || byte == '.' || byte == '-';
    };
    size_t at = 0;
    while (at < bytes.size() && is_common(bytes.data()[at])) {
        ++at;
    }
    if (at == 0) return HostKind::other;
    if (at == bytes.size()) return HostKind::common;
    const PaddedBytes port = bytes.from(at + 1);
    if (bytes.data()[at] != ':' || port.size() - 1 >= common_port_digits_max) {
        return HostKind::other;
    }
    return find_class_end(port, 0, digit_class) == port.size() ? HostKind::common : HostKind::other;
}

#if MILLRACE_SSE2_KERNELS

namespace sse2 {

inline constexpr size_t lane_bytes = 16;

inline __m128i load(const char* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

inline __m128i all(unsigned char byte) { return _mm_set1_epi8(static_cast<char>(byte)); }

// For a range within 0 to 0x7f: moved up so that it ends at 0x7f, the one signed compare sees it
// alone.
inline __m128i is_in(__m128i lanes, unsigned char lowest, unsigned char highest) {
    const auto shift = static_cast<unsigned char>(0x7f - highest);
    const auto below = static_cast<unsigned char>(0x7e - (highest - lowest));
    return _mm_cmpgt_epi8(_mm_add_epi8(lanes, all(shift)), all(below));
}

inline __m128i is_letter(__m128i lanes) { return is_in(_mm_or_si128(lanes, all(0x20)), 'a', 'z'); }

inline unsigned mask_of(__m128i lanes) { return static_cast<unsigned>(_mm_movemask_epi8(lanes)); }

inline size_t first_of(unsigned mask) { return static_cast<size_t>(std::countr_zero(mask)); }

// Bytes that may not stand in a field value.
inline __m128i is_control(__m128i lanes) {
    const __m128i low = _mm_andnot_si128(_mm_cmpeq_epi8(lanes, all('\t')), is_in(lanes, 0, 0x1f));
    return _mm_or_si128(low, _mm_cmpeq_epi8(lanes, all(0x7f)));
}

}  // namespace sse2

inline size_t common_name_bytes_sse2(const char* at) {
    const __m128i lanes = sse2::load(at);
    const __m128i dashes = _mm_cmpeq_epi8(lanes, sse2::all('-'));
    // The bits above the lanes are set, so a full run gives 16.
    return sse2::first_of(~sse2::mask_of(_mm_or_si128(sse2::is_letter(lanes), dashes)));
}

inline size_t find_token_end_sse2(PaddedBytes bytes) {
    size_t at = 0;
    do {
        const size_t run = common_name_bytes_sse2(bytes.data() + at);
        at += run;
        if (run == sse2::lane_bytes) continue;
        // Letters and '-' make up most names; the table knows the other token bytes.
        if (!has_class(bytes.data()[at], token_class)) return at;
        return find_class_end(bytes, at, token_class);
    } while (at < bytes.size());
    return at;
}

inline size_t find_value_end_sse2(PaddedBytes bytes) {
    size_t at = 0;
    do {
        const unsigned stops = sse2::mask_of(sse2::is_control(sse2::load(bytes.data() + at)));
        if (stops != 0) return at + sse2::first_of(stops);
        at += sse2::lane_bytes;
    } while (at < bytes.size());
    return at;
}

namespace sse2 {

// Bytes that may not stand in a target.
inline unsigned target_stops(__m128i lanes) {
    const __m128i specials =
        _mm_or_si128(_mm_cmpeq_epi8(lanes, all('#')), _mm_cmpeq_epi8(lanes, all(0x7f)));
    return mask_of(_mm_or_si128(is_in(lanes, 0, ' '), specials));
}

inline size_t find_target_end(PaddedBytes bytes, size_t at) {
    for (; at < bytes.size(); at += lane_bytes) {
        const unsigned stops = target_stops(load(bytes.data() + at));
        if (stops != 0) return at + first_of(stops);
    }
    return at;
}

}  // namespace sse2

inline TargetScan scan_target_sse2(PaddedBytes bytes) {
    size_t at = 0;
    do {
        const __m128i lanes = sse2::load(bytes.data() + at);
        const unsigned stops = sse2::target_stops(lanes);
        const unsigned marks = sse2::mask_of(_mm_cmpeq_epi8(lanes, sse2::all('?')));
        const unsigned either = stops | marks;
        if (either != 0) {
            const size_t mark = at + sse2::first_of(either);
            if (stops != 0) return {at + sse2::first_of(stops), mark};
            return {sse2::find_target_end(bytes, at + sse2::lane_bytes), mark};
        }
        at += sse2::lane_bytes;
    } while (at < bytes.size());
    return {at, at};
}

// Sees the whole text at once, so it leaves longer ones to the plain twin.
inline HostKind kind_of_host_sse2(PaddedBytes bytes) {
    if (bytes.size() > sse2::lane_bytes) return kind_of_host_plain(bytes);
    const __m128i lanes = sse2::load(bytes.data());
    const __m128i digits = sse2::is_in(lanes, '0', '9');
    const __m128i marks =
        _mm_or_si128(_mm_cmpeq_epi8(lanes, sse2::all('-')), _mm_cmpeq_epi8(lanes, sse2::all('.')));
    const __m128i common = _mm_or_si128(_mm_or_si128(marks, digits), sse2::is_letter(lanes));
    const unsigned inside = (1U << bytes.size()) - 1;
    const unsigned rest = ~sse2::mask_of(common) & inside;
    if (rest == 0) return bytes.empty() ? HostKind::other : HostKind::common;
    const size_t colon = sse2::first_of(rest);
    const size_t port_bytes = bytes.size() - colon - 1;
    const bool is_placed = colon != 0 && bytes.data()[colon] == ':';
    if (!is_placed || port_bytes - 1 >= common_port_digits_max) return HostKind::other;
    const unsigned port = inside & ~((2U << colon) - 1);
    return (sse2::mask_of(digits) & port) == port ? HostKind::common : HostKind::other;
}

inline size_t common_name_bytes(const char* at) { return common_name_bytes_sse2(at); }
inline size_t find_token_end(PaddedBytes bytes) { return find_token_end_sse2(bytes); }
inline size_t find_value_end(PaddedBytes bytes) { return find_value_end_sse2(bytes); }
inline TargetScan scan_target(PaddedBytes bytes) { return scan_target_sse2(bytes); }
inline HostKind kind_of_host(PaddedBytes bytes) { return kind_of_host_sse2(bytes); }

#else

inline size_t common_name_bytes(const char* at) { return common_name_bytes_plain(at); }
inline size_t find_token_end(PaddedBytes bytes) { return find_token_end_plain(bytes); }
inline size_t find_value_end(PaddedBytes bytes) { return find_value_end_plain(bytes); }
inline TargetScan scan_target(PaddedBytes bytes) { return scan_target_plain(bytes); }
inline HostKind kind_of_host(PaddedBytes bytes) { return kind_of_host_plain(bytes); }

#endif

template <class Word>
inline Word load_word(const char* at) {
    Word word;
    std::memcpy(&word, at, sizeof(word));
    return word;
}

// True if the bytes at `at` are `lower` (of lower-case letters, digits and '-', four bytes or more)
// in any case. The bytes must be free of controls: then OR 0x20 maps nothing else onto those bytes.
template <size_t Size>
inline bool equals_folded(const char* at, const char (&lower)[Size]) {
    constexpr size_t length = Size - 1;
    static_assert(length >= 4);
    const auto same = [&]<class Word>(Word fold, size_t offset) {
        return ((load_word<Word>(at + offset) | fold) ^ load_word<Word>(lower + offset)) == 0;
    };
    if constexpr (length < 8) {
        constexpr uint32_t fold = 0x20202020;
        return same(fold, 0) && same(fold, length - 4);
    } else {
        constexpr uint64_t fold = 0x2020202020202020;
        constexpr size_t middle = length > 16 ? 8 : 0;
        static_assert(length <= 24);
        return same(fold, 0) && same(fold, middle) && same(fold, length - 8);
    }
}

template <size_t Size>
inline bool equals_folded(std::string_view text, const char (&lower)[Size]) {
    return text.size() == Size - 1 && equals_folded(text.data(), lower);
}

}  // namespace millrace::http
