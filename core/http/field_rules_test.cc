#include "core/http/field_rules.h"

#include "core/http/parse_outcome.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::http {
namespace {

using namespace std::string_literals;

HeadOutcome with_fields(std::string_view lines, std::string_view version = "1.1",
                        std::string_view method = "POST") {
    return head_of(std::string{method} + " / HTTP/" + std::string{version} + "\r\n" +
                   std::string{lines} + "\r\n");
}

HeadOutcome with_host_and(std::string_view lines) {
    return with_fields("Host: x\r\n" + std::string{lines});
}

void expect_error(const HeadOutcome& outcome, HttpError error) {
    EXPECT_EQ(outcome.verdict, error == HttpError::none ? Verdict::complete : Verdict::rejected);
    EXPECT_EQ(info(outcome.error).name, info(error).name);
}

TEST(Host, ExactlyOneInNewVersions) {
    expect_error(with_fields("Host: x\r\n"), HttpError::none);
    expect_error(with_fields(""), HttpError::bad_host);
    expect_error(with_fields("", "1.5"), HttpError::bad_host);
    expect_error(with_fields("Host: x\r\nhost: x\r\n"), HttpError::bad_host);
    expect_error(with_fields("Host:\r\nHost: x\r\n"), HttpError::bad_host);
    expect_error(with_fields("Hosts: x\r\n"), HttpError::bad_host);
}

TEST(Host, AtMostOneInOldVersions) {
    expect_error(with_fields("", "1.0"), HttpError::none);
    expect_error(with_fields("Host: x\r\n", "1.0"), HttpError::none);
    expect_error(with_fields("Host: x\r\nHost: x\r\n", "1.0"), HttpError::bad_host);
}

TEST(Host, MustBeAHostAndPort) {
    for (const std::string& host :
         {""s, "x"s, "x:80"s, "x:"s, "x:65535"s, "x:00080"s, "127.0.0.1:3000"s, "[::1]"s,
          "[::1]:8080"s, "[2001:db8::192.0.2.1]:1"s, "a-b.example.com"s, "a_b~c!$&'()*+;="s,
          "%41%7e"s, "xn--bcher-kva.example"s,
          "a.very.long.host.name.that.fills.more.than.one.lane.example:8443"s, "1234567890123456"s,
          "123456789012345:7"s, "12345678901234:56"s}) {
        SCOPED_TRACE(host);
        const HeadOutcome outcome = with_fields("Host: " + host + "\r\n");
        expect_error(outcome, HttpError::none);
        EXPECT_EQ(outcome.authority, host);
    }
    for (const std::string& host : {"a b"s,
                                    "a/b"s,
                                    "u@a"s,
                                    "a,b"s,
                                    "a, b"s,
                                    ":80"s,
                                    "x:80x"s,
                                    "x:65536"s,
                                    "x:000080"s,
                                    "x:-1"s,
                                    "x:80:80"s,
                                    "::1"s,
                                    "[::1"s,
                                    "[]"s,
                                    "[::1]x"s,
                                    "[::1]80"s,
                                    "[g]"s,
                                    "a?b"s,
                                    "a#b"s,
                                    "a\\b"s,
                                    "<a>"s,
                                    "a\"b"s,
                                    "\xe9"s,
                                    "%4"s,
                                    "%zz"s,
                                    "a%"s,
                                    "a\tb"s,
                                    "x:8 0"s,
                                    "123456789012345:"s + "x"}) {
        SCOPED_TRACE(host);
        expect_error(with_fields("Host: " + host + "\r\n"), HttpError::bad_host);
    }
}

TEST(Host, YieldsToAnAbsoluteTargetButIsChecked) {
    const HeadOutcome outcome = head_of("GET http://a:1/ HTTP/1.1\r\nHost: b\r\n\r\n");
    expect_error(outcome, HttpError::none);
    EXPECT_EQ(outcome.authority, "a:1");
    expect_error(head_of("GET http://a/ HTTP/1.1\r\nHost: b c\r\n\r\n"), HttpError::bad_host);
    expect_error(head_of("GET http://a/ HTTP/1.1\r\n\r\n"), HttpError::bad_host);
}

TEST(ContentLength, DigitsUpToTheHighestExactInteger) {
    struct Case {
        std::string value;
        uint64_t length;
    };
    for (const Case& one : std::vector<Case>{
             {"0", 0}, {"5", 5}, {"007", 7}, {"9007199254740991", 9'007'199'254'740'991}}) {
        const HeadOutcome outcome = with_host_and("Content-Length: " + one.value + "\r\n");
        expect_error(outcome, HttpError::none);
        EXPECT_EQ(outcome.body, BodyKind::length);
        EXPECT_EQ(outcome.content_length, one.length);
    }
}

TEST(ContentLength, NothingElse) {
    for (const std::string& value :
         {""s, " "s, "+5"s, "-5"s, "5 5"s, "5,5"s, "5, 5"s, "0x5"s, "5.0"s, "5e1"s, "5;"s, "five"s,
          "\xb2"s, "9007199254740992"s, "1152921504606846976"s, "18446744073709551616"s,
          "99999999999999999999999999"s}) {
        SCOPED_TRACE(value);
        expect_error(with_host_and("Content-Length: " + value + "\r\n"),
                     HttpError::bad_content_length);
    }
}

TEST(ContentLength, OneFieldOnly) {
    expect_error(with_host_and("Content-Length: 5\r\nContent-Length: 10\r\n"),
                 HttpError::bad_content_length);
    expect_error(with_host_and("Content-Length: 5\r\ncontent-length: 5\r\n"),
                 HttpError::bad_content_length);
    expect_error(with_host_and("Content-Length:\r\nContent-Length: 5\r\n"),
                 HttpError::bad_content_length);
    expect_error(with_host_and("Content-Length: 0\r\nContent-Length: 0\r\n"),
                 HttpError::bad_content_length);
}

TEST(TransferEncoding, OneChunkedInAnyCase) {
    for (const std::string& value : {"chunked"s, "Chunked"s, "CHUNKED"s, " chunked\t"s}) {
        const HeadOutcome outcome = with_host_and("transfer-ENCODING:" + value + "\r\n");
        expect_error(outcome, HttpError::none);
        EXPECT_EQ(outcome.body, BodyKind::chunked);
        EXPECT_EQ(outcome.content_length, 0U);
    }
    for (const std::string& value :
         {""s, "identity"s, "gzip"s, "gzip, chunked"s, "chunked, chunked"s, "chunked, gzip"s,
          "chunked,"s, ",chunked"s, "chunked;a=b"s, "xchunked"s, "chunke"s, "chunked x"s,
          "\"chunked\""s}) {
        SCOPED_TRACE(value);
        expect_error(with_host_and("Transfer-Encoding: " + value + "\r\n"),
                     HttpError::bad_transfer_encoding);
    }
    expect_error(with_host_and("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
                 HttpError::bad_transfer_encoding);
}

TEST(TransferEncoding, NotInOldVersions) {
    expect_error(with_fields("Transfer-Encoding: chunked\r\n", "1.0"),
                 HttpError::bad_transfer_encoding);
    expect_error(with_fields("Host: x\r\nTransfer-Encoding: chunked\r\n", "1.2"), HttpError::none);
}

TEST(TransferEncoding, NotTogetherWithContentLength) {
    expect_error(with_host_and("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"),
                 HttpError::length_conflict);
    expect_error(with_host_and("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"),
                 HttpError::length_conflict);
    expect_error(with_host_and("Transfer-Encoding:\r\nContent-Length: 5\r\n"),
                 HttpError::bad_transfer_encoding);
}

TEST(Connection, KeepsNewVersionsAliveUnlessClosed) {
    for (const std::string& lines :
         {""s, "Connection: keep-alive\r\n"s, "Connection: foo\r\n"s, "Connection:\r\n"s,
          "Connection: closed\r\n"s, "Connection: clos\r\n"s, "X-Connection: close\r\n"s}) {
        EXPECT_TRUE(with_host_and(lines).keep_alive) << lines;
    }
    for (const std::string& lines :
         {"Connection: close\r\n"s, "Connection: Close\r\n"s, "Connection: foo, close\r\n"s,
          "Connection: close,foo\r\n"s, "Connection: , ,\tclose ,\r\n"s,
          "Connection: keep-alive, close\r\n"s,
          "Connection: keep-alive\r\nCONNECTION: CLOSE\r\n"s}) {
        EXPECT_FALSE(with_host_and(lines).keep_alive) << lines;
    }
}

TEST(Connection, ClosesOldVersionsUnlessKeptAlive) {
    EXPECT_FALSE(with_fields("", "1.0").keep_alive);
    EXPECT_TRUE(with_fields("Connection: keep-alive\r\n", "1.0").keep_alive);
    EXPECT_TRUE(with_fields("Connection: a, Keep-Alive\r\n", "1.0").keep_alive);
    EXPECT_FALSE(with_fields("Connection: keep-alive\r\nConnection: close\r\n", "1.0").keep_alive);
}

TEST(Connection, UpgradesWithOptionAndField) {
    EXPECT_TRUE(with_host_and("Connection: Upgrade\r\nUpgrade: websocket\r\n").upgrade);
    EXPECT_TRUE(with_host_and("upgrade: websocket\r\nConnection: keep-alive, upgrade\r\n").upgrade);
    EXPECT_FALSE(with_host_and("Connection: upgrade\r\n").upgrade);
    EXPECT_FALSE(with_host_and("Upgrade: websocket\r\n").upgrade);
    EXPECT_FALSE(with_host_and("Connection: upgrades\r\nUpgrade: websocket\r\n").upgrade);
    EXPECT_FALSE(with_fields("Connection: upgrade\r\nUpgrade: websocket\r\n", "1.0").upgrade);
}

TEST(Expect, ContinuesWhereABodyIsToCome) {
    for (const std::string& value : {"100-continue"s, "100-Continue"s, "100-CONTINUE"s,
                                     "x, 100-continue"s, "100-continue, x"s}) {
        const std::string line = "Expect: " + value + "\r\n";
        EXPECT_TRUE(with_host_and(line + "Content-Length: 5\r\n").expects_continue) << value;
        EXPECT_TRUE(with_host_and("Transfer-Encoding: chunked\r\n" + line).expects_continue);
        EXPECT_FALSE(with_host_and(line).expects_continue);
        EXPECT_FALSE(with_host_and(line + "Content-Length: 0\r\n").expects_continue);
        EXPECT_FALSE(with_fields(line + "Content-Length: 5\r\n", "1.0").expects_continue);
    }
    for (const std::string& value :
         {""s, "100"s, "100-continued"s, "100 continue"s, "100-continue;a"s}) {
        EXPECT_FALSE(
            with_host_and("Expect: " + value + "\r\nContent-Length: 5\r\n").expects_continue);
    }
}

}  // namespace
}  // namespace millrace::http
