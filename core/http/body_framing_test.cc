#include "core/http/body_framing.h"

#include "core/http/parse_outcome.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::http {
namespace {

using namespace std::string_literals;

void expect_data(std::string_view wire, std::string_view data, size_t left_over = 0) {
    SCOPED_TRACE(::testing::PrintToString(wire));
    const BodyOutcome outcome = chunked_body_of(wire);
    EXPECT_EQ(outcome.verdict, Verdict::complete);
    EXPECT_EQ(outcome.data, data);
    EXPECT_EQ(outcome.consumed_bytes, wire.size() - left_over);
}

void expect_error(std::string_view wire, HttpError error, const HttpLimits& limits = {}) {
    SCOPED_TRACE(::testing::PrintToString(wire.substr(0, 200)));
    const BodyOutcome outcome = chunked_body_of(wire, limits);
    EXPECT_EQ(outcome.verdict, Verdict::rejected);
    EXPECT_EQ(info(outcome.error).name, info(error).name);
}

TEST(SizedBody, EndsAtItsLength) {
    const BodyOutcome outcome = sized_body_of(5, "helloGET /");
    EXPECT_EQ(outcome.verdict, Verdict::complete);
    EXPECT_EQ(outcome.data, "hello");
    EXPECT_EQ(outcome.consumed_bytes, 5U);
    EXPECT_EQ(sized_body_of(6, "hello").verdict, Verdict::need_more);
    EXPECT_EQ(sized_body_of(6, "hello").data, "hello");
}

TEST(SizedBody, CompletesWithItsLastPiece) {
    RequestHead head;
    head.body = BodyKind::length;
    head.content_length = 3;
    BodyDecoder decoder;
    decoder.start(head);
    EXPECT_FALSE(decoder.is_complete());
    EXPECT_EQ(decoder.remaining_bytes(), 3U);
    EXPECT_EQ(decoder.next("", {}).verdict, Verdict::need_more);
    EXPECT_EQ(decoder.next("ab", {}).verdict, Verdict::need_more);
    EXPECT_EQ(decoder.remaining_bytes(), 1U);
    const BodyDecoder::Step last = decoder.next("cd", {});
    EXPECT_EQ(last.verdict, Verdict::complete);
    EXPECT_EQ(last.data, "c");
    EXPECT_EQ(last.consumed_bytes, 1U);
    EXPECT_TRUE(decoder.is_complete());
    EXPECT_EQ(decoder.remaining_bytes(), 0U);
    EXPECT_EQ(decoder.next("d", {}).consumed_bytes, 0U);
}

TEST(NoBody, IsCompleteAtOnce) {
    BodyDecoder decoder;
    EXPECT_TRUE(decoder.is_complete());
    for (const BodyKind kind : {BodyKind::none, BodyKind::length}) {
        RequestHead head;
        head.body = kind;
        decoder.start(head);
        EXPECT_TRUE(decoder.is_complete());
        EXPECT_EQ(decoder.remaining_bytes(), 0U);
        const BodyDecoder::Step step = decoder.next("GET /", {});
        EXPECT_EQ(step.verdict, Verdict::complete);
        EXPECT_EQ(step.consumed_bytes, 0U);
    }
}

TEST(ChunkedBody, JoinsItsChunks) {
    expect_data("0\r\n\r\n", "");
    expect_data("5\r\nhello\r\n0\r\n\r\n", "hello");
    expect_data("5\r\nhello\r\n1\r\n \r\n00000005\r\nworld\r\n000\r\n\r\n", "hello world");
    expect_data("A\r\n0123456789\r\na\r\n\r\n\r\n0\r\n\r\n\0\r\n0\r\n\r\n"s,
                "0123456789\r\n\r\n0\r\n\r\n\0"s);
    expect_data("1f\r\n" + std::string(31, 'x') + "\r\n0\r\n\r\nGET /", std::string(31, 'x'), 5);
}

TEST(ChunkedBody, ReportsWhatIsLeft) {
    RequestHead head;
    head.body = BodyKind::chunked;
    BodyDecoder decoder;
    decoder.start(head);
    EXPECT_FALSE(decoder.is_complete());
    EXPECT_EQ(decoder.remaining_bytes(), UINT64_MAX);
    const BodyDecoder::Step piece = decoder.next("3\r\nabc\r\n0\r\n\r\n", {});
    EXPECT_EQ(piece.verdict, Verdict::need_more);
    EXPECT_EQ(piece.data, "abc");
    EXPECT_EQ(piece.consumed_bytes, 6U);
    EXPECT_EQ(decoder.next("\r\n0\r\n\r\n", {}).verdict, Verdict::complete);
    EXPECT_EQ(decoder.remaining_bytes(), 0U);
}

TEST(ChunkedBody, StaysRejected) {
    RequestHead head;
    head.body = BodyKind::chunked;
    BodyDecoder decoder;
    decoder.start(head);
    EXPECT_EQ(decoder.next("3\r\nabcX", {}).verdict, Verdict::need_more);
    EXPECT_EQ(decoder.next("X", {}).verdict, Verdict::rejected);
    const BodyDecoder::Step again = decoder.next("\r\n0\r\n\r\n", {});
    EXPECT_EQ(again.verdict, Verdict::rejected);
    EXPECT_EQ(again.error, HttpError::bad_chunk_ending);
    EXPECT_EQ(again.consumed_bytes, 0U);
    EXPECT_FALSE(decoder.is_complete());
    decoder.start(head);
    EXPECT_EQ(decoder.next("0\r\n\r\n", {}).verdict, Verdict::complete);
}

TEST(ChunkSize, IsHexadecimalDigitsOnly) {
    for (const std::string& size :
         {""s, ";ext"s, "G"s, "@5"s, "g"s, "0x5"s, "-5"s, "+5"s, "0_5"s, " 5"s, "\t5"s, "5h"s,
          "\xb2"s, "5,"s, "5."s, "`"s, ":"s, "/"s, "\0"s}) {
        expect_error(size + "\r\nhello\r\n0\r\n\r\n", HttpError::bad_chunk_size);
    }
    expect_error("\r\n\r\n", HttpError::bad_chunk_size);
    for (unsigned byte = 0; byte < 256; ++byte) {
        const char text = static_cast<char>(byte);
        const bool is_digit =
            std::string_view{"0123456789abcdefABCDEF"}.find(text) != std::string_view::npos;
        const BodyOutcome outcome = chunked_body_of(std::string{"1"} + text);
        const bool goes_on = is_digit || text == '\r' || text == ';' || text == ' ' || text == '\t';
        EXPECT_EQ(outcome.verdict, goes_on ? Verdict::need_more : Verdict::rejected) << byte;
    }
}

TEST(ChunkSize, IsBoundedInValueAndDigits) {
    EXPECT_EQ(chunked_body_of("1fffffffffffff\r\nx").verdict, Verdict::need_more);
    EXPECT_EQ(chunked_body_of("001FFFFFFFFFFFFF\r\nx").data, "x");
    expect_error("20000000000000\r\nx", HttpError::bad_chunk_size);
    expect_error("ffffffffffffffff\r\nx", HttpError::bad_chunk_size);
    expect_error("10000000000000000\r\nx", HttpError::bad_chunk_size);
    expect_data("0000000000000001\r\nx\r\n0000000000000000\r\n\r\n", "x");
    expect_error("00000000000000001\r\nx\r\n0\r\n\r\n", HttpError::bad_chunk_size);
}

TEST(ChunkEnding, IsCrLfOnly) {
    expect_error("5\r\nhelloXX0\r\n\r\n", HttpError::bad_chunk_ending);
    expect_error("5\r\nhello\n0\r\n\r\n", HttpError::bad_chunk_ending);
    expect_error("5\r\nhello\r0\r\n\r\n", HttpError::bad_chunk_ending);
    expect_error("5\r\nhello0\r\n\r\n", HttpError::bad_chunk_ending);
    expect_error("5\nhello\r\n0\r\n\r\n", HttpError::bad_line_ending);
    expect_error("5\rhello\r\n0\r\n\r\n", HttpError::bad_line_ending);
    expect_error("5\r\r\nhello\r\n0\r\n\r\n", HttpError::bad_line_ending);
    expect_error("0\n\n", HttpError::bad_line_ending);
    expect_error("0\r\n\n", HttpError::bad_trailer);
    expect_error("0\r\n\rX", HttpError::bad_trailer);
}

TEST(ChunkExtension, FollowsTheGrammar) {
    for (const std::string& extension :
         {";a"s, ";a=b"s, ";a;b=c;d"s, " ;a"s, "\t ; a = b"s, ";a=\"\""s, ";a=\"b;c\\\"d\\\\\""s,
          ";a=\"\te\xe9\""s, ";a=\"b\" ;c"s, ";a ;b"s, ";!#$%&'*+-.^_`|~=1"s}) {
        expect_data("5" + extension + "\r\nhello\r\n0" + extension + "\r\n\r\n", "hello");
    }
    for (const std::string& extension :
         {";"s,          ";;a"s,         ";a="s,          ";=b"s,         ";a=b=c"s,  " "s,
          ";a "s,        ";a=b "s,       " a"s,           ";a b"s,        ";a=b c"s,  ";a=\"b\"c"s,
          ";a=\"b\" c"s, ";a=\"b"s,      ";a=\"b\\"s,     ";a(b"s,        ";a=\xe9"s, ";a\nb"s,
          ";a\n"s,       ";a=\"b\nc\""s, ";a=\"b\\\n\""s, ";a=\"\x01\""s, ";a\0"s,    ";a\x7f"s,
          " \n"s,        ";\n"s}) {
        expect_error("5" + extension + "\r\nhello\r\n0\r\n\r\n", HttpError::bad_chunk_extension);
    }
    expect_error("5;a\rb\r\nhello\r\n0\r\n\r\n", HttpError::bad_line_ending);
}

TEST(ChunkExtension, BytesOfAMessageAreBounded) {
    HttpLimits limits;
    limits.chunk_extension_bytes_max = 10;
    const std::string end = "\r\nx\r\n0\r\n\r\n";
    EXPECT_EQ(chunked_body_of("1;a=4567890" + end, limits).verdict, Verdict::complete);
    expect_error("1;a=45678901" + end, HttpError::chunk_overhead, limits);
    EXPECT_EQ(chunked_body_of("1;a=45\r\nx\r\n1 ;bcd" + end, limits).verdict, Verdict::complete);
    expect_error("1;a=45\r\nx\r\n1 ;bcde" + end, HttpError::chunk_overhead, limits);
    EXPECT_EQ(chunked_body_of("1;a=\"5678\\\"" + end, limits).error,
              HttpError::bad_chunk_extension);
}

TEST(ChunkExtension, DefaultBoundIsExact) {
    const size_t most = HttpLimits{}.chunk_extension_bytes_max;
    const std::string end = "\r\nhello\r\n0\r\n\r\n";
    EXPECT_EQ(chunked_body_of("5;" + std::string(most - 1, 'a') + end).verdict, Verdict::complete);
    expect_error("5;" + std::string(most, 'a') + end, HttpError::chunk_overhead);
}

// A body of `count` chunks of one byte, each with `size` as its size, costs so many framing bytes.
std::string one_byte_chunks(size_t count, std::string_view size) {
    std::string wire;
    for (size_t chunk = 0; chunk < count; ++chunk) {
        wire += std::string{size} + "\r\nx\r\n";
    }
    return wire;
}

TEST(ChunkOverhead, OneByteChunksPassByDefault) {
    const BodyOutcome outcome = chunked_body_of(one_byte_chunks(20'000, "1") + "0\r\n\r\n");
    EXPECT_EQ(outcome.verdict, Verdict::complete);
    EXPECT_EQ(outcome.data.size(), 20'000U);
}

TEST(ChunkOverhead, PaddedOneByteChunksDoNot) {
    expect_error(one_byte_chunks(20'000, "0000000000000001"), HttpError::chunk_overhead);
}

TEST(ChunkOverhead, BothSidesOfTheLimit) {
    HttpLimits limits;
    limits.chunk_overhead_percent_max = 0;
    // 3276 chunks cost 16380 bytes; the allowance is 16384.
    const std::string chunks = one_byte_chunks(3276, "1");
    EXPECT_EQ(chunked_body_of(chunks + "001\r", limits).verdict, Verdict::need_more);
    expect_error(chunks + "001\r\n", HttpError::chunk_overhead, limits);
    // 1 percent of 3276 bytes of data is 32.
    limits.chunk_overhead_percent_max = 1;
    const std::string more = one_byte_chunks(3276 + 6, "1");
    EXPECT_EQ(chunked_body_of(more + "0001\r\n", limits).verdict, Verdict::need_more);
    expect_error(more + "00001\r\n", HttpError::chunk_overhead, limits);
}

TEST(Trailers, AreCheckedAndDropped) {
    expect_data("5\r\nhello\r\n0\r\nX-T: 1\r\n\r\nGET /b", "hello", 6);
    expect_data("0\r\nA:\r\nB: \t b \xe9\r\nHos: x\r\nHosts: x\r\nContent-Lengths: 1\r\n\r\n", "");
    expect_data("0\r\nTransfer-Encodings: a\r\nTransfer-Encoding-And-A-Long-Tail: b\r\n\r\n", "");
    for (const std::string& line :
         {": 1"s, "X : 1"s, " X: 1"s, "X"s, "X\0: 1"s, "X: a\0b"s, "X: a\x7f"s, "X: 1\r\n folded"s,
          "X: 1\nY: 2"s, "X: 1\rY"s, "X\n: 1"s, "X(: 1"s, "\xe9: 1"s}) {
        expect_error("5\r\nhello\r\n0\r\n" + line + "\r\n\r\n", HttpError::bad_trailer);
    }
}

TEST(Trailers, MustNotNameFramingFields) {
    for (const std::string& name : {"Content-Length"s, "content-length"s, "TRANSFER-ENCODING"s,
                                    "Transfer-Encoding"s, "Host"s, "hOST"s}) {
        expect_error("0\r\n" + name + ": 5\r\n\r\n", HttpError::bad_trailer);
        expect_error("0\r\nX: 1\r\n" + name + ":\r\n\r\n", HttpError::bad_trailer);
    }
}

TEST(Trailers, BytesAreBounded) {
    HttpLimits limits;
    limits.trailer_bytes_max = 20;
    const std::string begin = "1\r\nx\r\n0\r\n";
    EXPECT_EQ(chunked_body_of(begin + "A: 1\r\nB: 456789012\r\n\r\n", limits).verdict,
              Verdict::complete);
    expect_error(begin + "A: 1\r\nB: 4567890123\r\n\r\n", HttpError::trailers_too_large, limits);
    limits.trailer_bytes_max = 0;
    EXPECT_EQ(chunked_body_of(begin + "\r\n", limits).verdict, Verdict::complete);
    expect_error(begin + "A", HttpError::trailers_too_large, limits);
}

TEST(Trailers, DefaultBoundIsExact) {
    const size_t most = HttpLimits{}.trailer_bytes_max;
    const std::string begin = "0\r\nX:";
    EXPECT_EQ(chunked_body_of(begin + std::string(most - 4, 'v') + "\r\n\r\n").verdict,
              Verdict::complete);
    expect_error(begin + std::string(most - 3, 'v') + "\r\n\r\n", HttpError::trailers_too_large);
}

}  // namespace
}  // namespace millrace::http
