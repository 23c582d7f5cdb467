#include "tests/wire/wire_case.h"

#include "tests/wire/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

WireCase only_case(std::string_view markdown) {
    const auto cases = cases_of("x.md", markdown);
    EXPECT_THAT(cases, SizeIs(1));
    return cases.empty() ? WireCase{} : cases.front();
}

std::string error_of(std::string_view markdown) {
    try {
        cases_of("x.md", markdown);
    } catch (const WireCaseError& error) {
        return error.what();
    }
    return "";
}

std::vector<std::string> log_of(std::string wire) {
    EventLog log{HttpLimits{}};
    const size_t size = wire.size();
    wire.resize(size + scan_padding_bytes);
    log.on_received(PaddedBytes::promise(wire.data(), size));
    return log.finish(size);
}

TEST(WireCase, ReadsTitleBlocksAndLines) {
    const WireCase one = only_case(
        "# document\n\n## a title\n\nWhy.\n\n```http\nGET / HTTP/1.1\n\n```\n\n"
        "```events\nrequest\nend\n```\n");
    EXPECT_EQ(one.file, "x.md");
    EXPECT_EQ(one.line, 3);
    EXPECT_EQ(one.events_line, 13);
    EXPECT_EQ(one.title, "a title");
    EXPECT_EQ(one.wire, "GET / HTTP/1.1\r\n\r\n");
    EXPECT_THAT(one.events, ElementsAre("request", "end"));
}

TEST(WireCase, EscapesStandForBytes) {
    const WireCase one =
        only_case("## t\n```http\na\\x7fb\\0c\\n\\r\\t\\\\\\xE9\nend\\\n```\n```events\ne\n```\n");
    using namespace std::string_view_literals;
    EXPECT_EQ(one.wire,
              "a\x7f"
              "b\0c\n\r\t\\\xE9\r\nend"sv);
}

TEST(WireCase, LimitsAreThoseNamed) {
    const WireCase one = only_case(
        "## t\nlimits: head_bytes_max=64, fields_max=2\n```http\nx\n```\n```events\ne\n```\n");
    EXPECT_EQ(one.limits.head_bytes_max, 64u);
    EXPECT_EQ(one.limits.fields_max, 2u);
    EXPECT_EQ(one.limits.trailer_bytes_max, HttpLimits{}.trailer_bytes_max);
}

TEST(WireCase, WhatCannotBeReadIsNamedWithItsLine) {
    EXPECT_THAT(error_of("\n## t\n```http\n\\q\n```\n"), StartsWith("x.md:4: unknown escape"));
    EXPECT_THAT(error_of("## t\n```http\n\\x4\n```\n"), StartsWith("x.md:3: "));
    EXPECT_THAT(error_of("## t\n```http\n\\xgg\n```\n"), StartsWith("x.md:3: "));
    EXPECT_THAT(error_of("## t\n```http\nx\n"), HasSubstr("no end"));
    EXPECT_THAT(error_of("## t\n```http\nx\n```\n"), HasSubstr("no events"));
    EXPECT_THAT(error_of("## t\n```events\nx\n```\n"), HasSubstr("no http"));
    EXPECT_THAT(error_of("```http\nx\n```\n"), HasSubstr("below a title"));
    EXPECT_THAT(error_of("## t\nlimits: nonsense=1\n"), HasSubstr("no such limit"));
    EXPECT_THAT(error_of("## t\nlimits: fields_max=many\n"), HasSubstr("not a number"));
    EXPECT_THAT(error_of("## t\n```text\n"), HasSubstr("either http or events"));
    EXPECT_THAT(cases_of("x.md", "no cases\n"), IsEmpty());
}

TEST(WireCase, EscapedBytesReadBackAsTheyWere) {
    std::string all;
    for (int value = 0; value < 256; ++value)
        all += static_cast<char>(value);
    const std::string text = "## t\n```http\n" + escaped(all) + "\\\n```\n```events\ne\n```\n";
    EXPECT_EQ(only_case(text).wire, all);
}

TEST(EventLog, JoinsTheDataOfABody) {
    EXPECT_THAT(log_of("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"),
                ElementsAre("request POST / HTTP/1.1 keep-alive", "field Host: x",
                            "field Transfer-Encoding: chunked", "body chunked", "data abc", "end"));
}

TEST(EventLog, SaysWhatIsIncompleteOrIgnored) {
    EXPECT_THAT(log_of(""), IsEmpty());
    EXPECT_THAT(log_of("GET / HT"), ElementsAre("incomplete head"));
    EXPECT_THAT(
        log_of("GET / HTTP/1.1\r\nHost:\r\nContent-Length: 3\r\n\r\nab"),
        ElementsAre("request GET / HTTP/1.1 keep-alive", "field Host:", "field Content-Length: 3",
                    "body length 3", "data ab", "incomplete body"));
    EXPECT_THAT(log_of("GET / HTTP/1.0\r\n\r\nmore"),
                ElementsAre("request GET / HTTP/1.0 close", "end", "ignored 4 bytes"));
}

}  // namespace
}  // namespace millrace::wire
