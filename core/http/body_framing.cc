#include "core/http/body_framing.h"

#include "core/base/bytes.h"
#include "core/http/text_kernels.h"

#include <algorithm>
#include <array>

namespace millrace::http {
namespace {

// The highest integer that JavaScript's numbers hold exactly.
constexpr uint64_t chunk_bytes_max = (uint64_t{1} << 53) - 1;

// 14 digits say all that is allowed; some senders pad to a fixed width.
constexpr uint8_t size_digits_max = 16;

// Framing that costs nothing, so that the percentage does not bite on small bodies.
constexpr uint64_t overhead_allowance_bytes = 16 * KiB;

// RFC 9110 section 6.5.1: fields that frame or route a message must not come after it.
constexpr std::array<std::string_view, 3> forbidden_trailers{"content-length", "transfer-encoding",
                                                             "host"};
constexpr uint8_t all_forbidden = (1U << forbidden_trailers.size()) - 1;
constexpr uint8_t name_bytes_counted_max = 18;
static_assert(std::all_of(forbidden_trailers.begin(), forbidden_trailers.end(),
                          [](auto name) { return name.size() < name_bytes_counted_max; }));

bool is_whitespace(char byte) { return byte == ' ' || byte == '\t'; }

unsigned hex_value(char digit) {
    const auto byte = static_cast<unsigned>(digit);
    return (byte & 0xf) + (digit > '9' ? 9 : 0);
}

bool exceeds_overhead(uint64_t overhead_bytes, uint64_t data_bytes, uint32_t percent) {
    if (overhead_bytes <= overhead_allowance_bytes) return false;
    // Divided, for the product could overflow. Whole hundreds first, then what is left of them.
    const uint64_t allowed = data_bytes / 100 * percent + data_bytes % 100 * percent / 100;
    return overhead_bytes - overhead_allowance_bytes > allowed;
}

}  // namespace

void BodyDecoder::start(const RequestHead& head) {
    *this = BodyDecoder{};
    if (head.body == BodyKind::chunked) {
        start_chunk_size();
    } else if (head.body == BodyKind::length && head.content_length != 0) {
        place_ = Place::sized_data;
        remaining_bytes_ = head.content_length;
    }
    check();
}

BodyDecoder::Step BodyDecoder::next(std::string_view input, const HttpLimits& limits) {
    size_t at = 0;
    while (at < input.size() && place_ > Place::sized_data && place_ != Place::chunk_data) {
        const HttpError error = take_framing(input[at], limits);
        if (error != HttpError::none) {
            place_ = Place::rejected;
            error_ = error;
            break;
        }
        ++at;
    }
    check();
    if (place_ == Place::rejected) return {Verdict::rejected, at, {}, error_};
    if (place_ == Place::complete) return {Verdict::complete, at, {}, HttpError::none};
    const bool is_data = place_ == Place::sized_data || place_ == Place::chunk_data;
    if (!is_data || at == input.size()) return {Verdict::need_more, at, {}, HttpError::none};
    Step step = take_data(input.substr(at));
    step.consumed_bytes += at;
    return step;
}

BodyDecoder::Step BodyDecoder::take_data(std::string_view input) {
    const auto taken = static_cast<size_t>(std::min<uint64_t>(remaining_bytes_, input.size()));
    remaining_bytes_ -= taken;
    data_bytes_ += taken;
    Verdict verdict = Verdict::need_more;
    if (remaining_bytes_ == 0) {
        const bool is_last = place_ == Place::sized_data;
        place_ = is_last ? Place::complete : Place::chunk_data_cr;
        if (is_last) verdict = Verdict::complete;
    }
    check();
    return {verdict, taken, input.substr(0, taken), HttpError::none};
}

bool BodyDecoder::is_complete() const { return place_ == Place::complete; }

uint64_t BodyDecoder::remaining_bytes() const {
    if (place_ == Place::complete) return 0;
    return place_ == Place::sized_data ? remaining_bytes_ : UINT64_MAX;
}

HttpError BodyDecoder::move_to(Place next) {
    place_ = next;
    return HttpError::none;
}

HttpError BodyDecoder::move_on(char byte, char expected, Place next, HttpError otherwise) {
    return byte == expected ? move_to(next) : otherwise;
}

void BodyDecoder::start_chunk_size() {
    place_ = Place::chunk_size;
    remaining_bytes_ = 0;
    size_digits_ = 0;
}

HttpError BodyDecoder::take_framing(char byte, const HttpLimits& limits) {
    if (place_ >= Place::trailer_start) return take_trailer(byte, limits);
    return take_chunk_framing(byte, limits);
}

// Counts after the byte has been judged: what is wrong in itself is called so, not a limit.
HttpError BodyDecoder::take_chunk_framing(char byte, const HttpLimits& limits) {
    const Place before = place_;
    HttpError error = HttpError::none;
    switch (before) {
        case Place::chunk_size:
            error = take_size(byte);
            break;
        case Place::chunk_line_lf:
            error = end_chunk_line(byte);
            break;
        case Place::chunk_data_cr:
            error = move_on(byte, '\r', Place::chunk_data_lf, HttpError::bad_chunk_ending);
            break;
        case Place::chunk_data_lf:
            error = move_on(byte, '\n', Place::chunk_size, HttpError::bad_chunk_ending);
            if (error == HttpError::none) start_chunk_size();
            break;
        default:
            error = take_extension(byte);
            break;
    }
    if (error != HttpError::none) return error;
    // An extension begins with the byte that opens it and ends before the CR.
    const bool is_extension = place_ >= Place::extension_gap && place_ < Place::chunk_line_lf;
    if (is_extension) {
        ++extension_bytes_;
        return extension_bytes_ > limits.chunk_extension_bytes_max ? HttpError::chunk_overhead
                                                                   : HttpError::none;
    }
    ++overhead_bytes_;
    return exceeds_overhead(overhead_bytes_, data_bytes_, limits.chunk_overhead_percent_max)
               ? HttpError::chunk_overhead
               : HttpError::none;
}

// RFC 9112 section 7.1: chunk-size. Nothing but digits, and at least one.
HttpError BodyDecoder::take_size(char byte) {
    if (has_class(byte, hex_class)) {
        if (size_digits_ == size_digits_max) return HttpError::bad_chunk_size;
        ++size_digits_;
        remaining_bytes_ = remaining_bytes_ << 4 | hex_value(byte);
        return remaining_bytes_ > chunk_bytes_max ? HttpError::bad_chunk_size : HttpError::none;
    }
    if (byte == '\n') return HttpError::bad_line_ending;
    if (size_digits_ == 0) return HttpError::bad_chunk_size;
    if (byte == '\r') return move_to(Place::chunk_line_lf);
    if (byte == ';') return move_to(Place::extension_start);
    return is_whitespace(byte) ? move_to(Place::extension_gap) : HttpError::bad_chunk_size;
}

// RFC 9112 section 7.1.1. Extensions mean nothing to us, but a recipient that is lax about them is
// one that can be made to see other chunks than its peers.
HttpError BodyDecoder::take_extension(char byte) {
    const bool is_token_byte = has_class(byte, token_class);
    switch (place_) {
        case Place::extension_gap:
            if (is_whitespace(byte)) return HttpError::none;
            return move_on(byte, ';', Place::extension_start, HttpError::bad_chunk_extension);
        case Place::extension_start:
            if (is_whitespace(byte)) return HttpError::none;
            if (is_token_byte) return move_to(Place::extension_name);
            return HttpError::bad_chunk_extension;
        case Place::extension_name:
            if (is_token_byte) return HttpError::none;
            if (is_whitespace(byte)) return move_to(Place::extension_name_gap);
            if (byte == '=') return move_to(Place::extension_value_start);
            return end_extension_part(byte);
        case Place::extension_name_gap:
            if (is_whitespace(byte)) return HttpError::none;
            if (byte == '=') return move_to(Place::extension_value_start);
            return move_on(byte, ';', Place::extension_start, HttpError::bad_chunk_extension);
        case Place::extension_value_start:
            if (is_whitespace(byte)) return HttpError::none;
            if (byte == '"') return move_to(Place::extension_quoted);
            return is_token_byte ? move_to(Place::extension_value) : HttpError::bad_chunk_extension;
        case Place::extension_value:
            if (is_token_byte) return HttpError::none;
            [[fallthrough]];
        case Place::extension_value_end:
            if (is_whitespace(byte)) return move_to(Place::extension_gap);
            return end_extension_part(byte);
        default:
            return take_quoted(byte);
    }
}

// RFC 9110 section 5.6.4: quoted-string.
HttpError BodyDecoder::take_quoted(char byte) {
    if (!has_class(byte, value_class)) return HttpError::bad_chunk_extension;
    if (place_ == Place::extension_escaped) return move_to(Place::extension_quoted);
    if (byte == '"') return move_to(Place::extension_value_end);
    return byte == '\\' ? move_to(Place::extension_escaped) : HttpError::none;
}

HttpError BodyDecoder::end_extension_part(char byte) {
    if (byte == ';') return move_to(Place::extension_start);
    return move_on(byte, '\r', Place::chunk_line_lf, HttpError::bad_chunk_extension);
}

HttpError BodyDecoder::end_chunk_line(char byte) {
    const Place next = remaining_bytes_ == 0 ? Place::trailer_start : Place::chunk_data;
    return move_on(byte, '\n', next, HttpError::bad_line_ending);
}

// RFC 9112 section 7.1.2: field lines like those of a head, then an empty line.
HttpError BodyDecoder::take_trailer(char byte, const HttpLimits& limits) {
    HttpError error = HttpError::none;
    switch (place_) {
        case Place::trailer_start:
            if (byte == '\r') return move_to(Place::last_lf);
            name_bytes_ = 0;
            forbidden_left_ = all_forbidden;
            place_ = Place::trailer_name;
            error = byte == ':' ? HttpError::bad_trailer : take_trailer_name(byte);
            break;
        case Place::trailer_name:
            error = take_trailer_name(byte);
            break;
        case Place::trailer_value:
            if (byte == '\r') {
                place_ = Place::trailer_lf;
            } else if (!has_class(byte, value_class)) {
                error = HttpError::bad_trailer;
            }
            break;
        case Place::trailer_lf:
            error = move_on(byte, '\n', Place::trailer_start, HttpError::bad_trailer);
            break;
        default:
            return move_on(byte, '\n', Place::complete, HttpError::bad_trailer);
    }
    if (error != HttpError::none) return error;
    ++trailer_bytes_;
    return trailer_bytes_ > limits.trailer_bytes_max ? HttpError::trailers_too_large
                                                     : HttpError::none;
}

HttpError BodyDecoder::take_trailer_name(char byte) {
    const bool is_end = byte == ':';
    if (!is_end && !has_class(byte, token_class)) return HttpError::bad_trailer;
    for (size_t index = 0; index < forbidden_trailers.size(); ++index) {
        const auto bit = static_cast<uint8_t>(1U << index);
        if ((forbidden_left_ & bit) == 0) continue;
        const std::string_view name = forbidden_trailers[index];
        if (is_end && name_bytes_ == name.size()) return HttpError::bad_trailer;
        const bool is_same = name_bytes_ < name.size() && (byte | 0x20) == name[name_bytes_];
        if (!is_same) forbidden_left_ = static_cast<uint8_t>(forbidden_left_ & ~bit);
    }
    if (is_end) return move_to(Place::trailer_value);
    name_bytes_ = std::min<uint8_t>(static_cast<uint8_t>(name_bytes_ + 1), name_bytes_counted_max);
    return HttpError::none;
}

void BodyDecoder::check() const {
    MR_ASSERT(size_digits_ <= size_digits_max);
    MR_ASSERT(name_bytes_ <= name_bytes_counted_max);
    MR_ASSERT(remaining_bytes_ <= chunk_bytes_max || place_ == Place::rejected);
    MR_ASSERT((place_ == Place::rejected) == (error_ != HttpError::none));
    MR_ASSERT(place_ != Place::chunk_data || remaining_bytes_ != 0);
}

}  // namespace millrace::http
