// Bodies: whole, byte by byte and in pieces of any size, the data and the verdict are the same. The
// first eight bytes choose the framing, the limits and the pieces.
#include "core/http/body_framing.h"
#include "core/testing/guard_page.h"
#include "fuzz/require.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using millrace::HttpError;
using millrace::HttpLimits;
using millrace::Verdict;
using millrace::fuzz::require;
using namespace millrace::http;

constexpr size_t input_bytes_max = 4096;
constexpr size_t choice_bytes = 8;

struct Outcome {
    Verdict verdict = Verdict::need_more;
    HttpError error = HttpError::none;
    size_t consumed_bytes = 0;
    std::string data;

    bool operator==(const Outcome&) const = default;
};

void take_piece(BodyDecoder& decoder, std::string_view piece, const HttpLimits& limits,
                Outcome& outcome) {
    while (outcome.verdict == Verdict::need_more && !piece.empty()) {
        const BodyDecoder::Step step = decoder.next(piece, limits);
        require(step.consumed_bytes <= piece.size(), "takes no more than it is given");
        require(step.consumed_bytes != 0 || step.verdict != Verdict::need_more, "moves on");
        require(step.data.empty() ||
                    (step.data.data() >= piece.data() &&
                     step.data.data() + step.data.size() <= piece.data() + step.consumed_bytes),
                "data inside what was taken");
        outcome.data += step.data;
        outcome.consumed_bytes += step.consumed_bytes;
        outcome.verdict = step.verdict;
        outcome.error = step.error;
        piece.remove_prefix(step.consumed_bytes);
    }
}

// Feeds `text` in pieces whose sizes come from `sizes`, over and over; 0 stands for all the rest.
Outcome feed(const RequestHead& head, std::string_view text, const HttpLimits& limits,
             std::basic_string_view<uint8_t> sizes) {
    static millrace::testing::GuardedBuffer memory{input_bytes_max};
    BodyDecoder decoder;
    decoder.start(head);
    Outcome outcome;
    if (decoder.is_complete()) outcome.verdict = Verdict::complete;  // a body of no bytes
    for (size_t turn = 0; !text.empty(); ++turn) {
        const size_t size = sizes[turn % sizes.size()];
        const size_t taken = size == 0 ? text.size() : std::min(size, text.size());
        take_piece(decoder, memory.put_at_end(text.substr(0, taken)), limits, outcome);
        text.remove_prefix(taken);
    }
    require(decoder.is_complete() == (outcome.verdict == Verdict::complete),
            "complete by both accounts");
    if (outcome.verdict == Verdict::complete)
        require(decoder.remaining_bytes() == 0, "nothing left");
    if (outcome.verdict == Verdict::rejected)
        require(decoder.next("0\r\n\r\n", limits).error == outcome.error, "stays rejected");
    return outcome;
}

HttpLimits limits_by(const uint8_t* choice) {
    HttpLimits limits;
    if (choice[0] & 4) limits.chunk_extension_bytes_max = choice[1];
    if (choice[0] & 8) limits.trailer_bytes_max = choice[2];
    if (choice[0] & 16) limits.chunk_overhead_percent_max = choice[3];
    return limits;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < choice_bytes || size > input_bytes_max) return 0;
    RequestHead head;
    head.body = (data[0] & 3) == 3 ? BodyKind::length : BodyKind::chunked;
    head.content_length = head.body == BodyKind::length ? data[1] * 16U + data[2] : 0;
    const HttpLimits limits = limits_by(data);
    const std::string_view text{reinterpret_cast<const char*>(data) + choice_bytes,
                                size - choice_bytes};
    constexpr std::array<uint8_t, 1> whole{0};
    constexpr std::array<uint8_t, 1> single{1};
    const Outcome expected = feed(head, text, limits, {whole.data(), whole.size()});
    require((expected.verdict == Verdict::rejected) == (expected.error != HttpError::none),
            "an error for each rejection");
    require(expected.data.size() <= text.size(), "no more data than bytes");
    require(feed(head, text, limits, {single.data(), single.size()}) == expected, "byte by byte");
    require(feed(head, text, limits, {data + 4, 4}) == expected, "in pieces");
    return 0;
}
