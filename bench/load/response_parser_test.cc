#include "bench/load/response_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace millrace::load {
namespace {

constexpr std::string_view plain =
    "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 5\r\n\r\nhello";
constexpr std::string_view chunked =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    "2;note=x\r\nhe\r\n3\r\nllo\r\n0\r\nTrailer: yes\r\n\r\n";

Expectation hello() { return {.body = "hello"}; }

ParseStep parse_whole(std::string_view bytes, const Expectation& expected) {
    ResponseParser parser(expected);
    parser.begin();
    return parser.feed(bytes);
}

// Feeds `bytes` cut in two at every place, and byte by byte, and expects one outcome of all.
void expect_every_way(std::string_view bytes, const Expectation& expected, ParseVerdict verdict,
                      ErrorKind error) {
    for (size_t cut = 1; cut < bytes.size(); ++cut) {
        ResponseParser parser(expected);
        parser.begin();
        ParseStep step = parser.feed(bytes.substr(0, cut));
        if (step.verdict == ParseVerdict::need_more) {
            EXPECT_EQ(step.consumed_bytes, cut);
            step = parser.feed(bytes.substr(cut));
        }
        EXPECT_EQ(step.verdict, verdict) << "cut at " << cut;
        EXPECT_EQ(step.error, error) << "cut at " << cut;
    }
    ResponseParser parser(expected);
    parser.begin();
    ParseStep step;
    for (size_t i = 0; i < bytes.size() && step.verdict == ParseVerdict::need_more; ++i) {
        step = parser.feed(bytes.substr(i, 1));
    }
    EXPECT_EQ(step.verdict, verdict);
    EXPECT_EQ(step.error, error);
}

void expect_complete(std::string_view bytes, const Expectation& expected) {
    expect_every_way(bytes, expected, ParseVerdict::complete, ErrorKind::none);
}

void expect_rejected(std::string_view bytes, const Expectation& expected, ErrorKind error) {
    expect_every_way(bytes, expected, ParseVerdict::rejected, error);
}

TEST(ResponseParser, accepts_each_framing_in_any_pieces) {
    expect_complete(plain, hello());
    expect_complete(chunked, hello());
    expect_complete("HTTP/1.1 100 Continue\r\n\r\n" + std::string(plain), hello());
    expect_complete("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + std::string(chunked),
                    hello());
    expect_complete("HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n", {.status = 204});
    expect_complete("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", {.status = 304});
    expect_complete("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", {.answers_head = true});
    expect_complete("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", {.body = ""});
    expect_complete("HTTP/1.0 200 OK\r\ncontent-length:  5 \r\n\r\nhello", {.body_size_bytes = 5});
}

TEST(ResponseParser, stops_at_the_end_of_the_response) {
    const std::string two = std::string(plain) + std::string(plain);
    EXPECT_EQ(parse_whole(two, hello()).consumed_bytes, plain.size());
    const std::string more = std::string(chunked) + "H";
    EXPECT_EQ(parse_whole(more, hello()).consumed_bytes, chunked.size());
}

TEST(ResponseParser, reports_another_status) {
    expect_rejected("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 5\r\n\r\nhello", hello(),
                    ErrorKind::status);
    expect_rejected("HTTP/1.1 204 No Content\r\n\r\n", hello(), ErrorKind::status);
}

TEST(ResponseParser, reports_another_body) {
    expect_rejected("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhellO", hello(), ErrorKind::body);
    expect_rejected("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhell", hello(), ErrorKind::body);
    expect_rejected("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello!", hello(), ErrorKind::body);
    expect_rejected("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", hello(), ErrorKind::body);
    expect_rejected("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhell\r\n0\r\n\r\n",
                    hello(), ErrorKind::body);
    expect_rejected("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhell", {.body_size_bytes = 5},
                    ErrorKind::body);
}

TEST(ResponseParser, reports_malformed_responses) {
    const std::string_view malformed[] = {
        "HTTP/2.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 2x0 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 099 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\n\r\nhello",  // would end with the connection
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nX: a\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n",
    };
    for (const auto bytes : malformed) {
        SCOPED_TRACE(bytes);
        expect_rejected(bytes, hello(), ErrorKind::protocol);
    }
}

TEST(ResponseParser, bounds_the_head) {
    std::string endless = "HTTP/1.1 200 OK\r\nX: ";
    endless.resize(ResponseParser::head_bytes_max + 1, 'a');
    const auto step = parse_whole(endless, hello());
    EXPECT_EQ(step.verdict, ParseVerdict::rejected);
    EXPECT_EQ(step.error, ErrorKind::protocol);
    endless.pop_back();
    EXPECT_EQ(parse_whole(endless, hello()).verdict, ParseVerdict::need_more);
}

TEST(ResponseParser, needs_every_byte) {
    for (const auto bytes : {plain, chunked}) {
        for (size_t size = 0; size < bytes.size(); ++size) {
            EXPECT_EQ(parse_whole(bytes.substr(0, size), hello()).verdict, ParseVerdict::need_more);
        }
    }
}

TEST(ResponseParser, keeps_bytes_body_and_place_of_the_date) {
    const Expectation any;
    const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
    const std::string bytes = interim + std::string(plain);
    for (size_t cut = 1; cut < bytes.size(); ++cut) {
        ResponseParser parser(any);
        parser.begin(ResponseParser::Keep::bytes);
        parser.feed(std::string_view(bytes).substr(0, cut));
        parser.feed(std::string_view(bytes).substr(cut));
        EXPECT_EQ(parser.raw(), bytes);
        EXPECT_EQ(parser.body(), "hello");
        EXPECT_EQ(parser.date_offset(), bytes.find("Sun,"));
    }
}

TEST(ResponseParser, sees_that_the_peer_will_close) {
    const Expectation any;
    ResponseParser parser(any);
    parser.begin();
    parser.feed("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    EXPECT_TRUE(parser.closes());
    parser.begin();
    EXPECT_FALSE(parser.closes());
    EXPECT_TRUE(parser.untouched());
}

}  // namespace
}  // namespace millrace::load
