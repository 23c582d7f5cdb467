#include "core/http/head_parser.h"

#include "core/http/parse_outcome.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::http {
namespace {

using namespace std::string_literals;

std::string with_request_line(std::string_view line) {
    return std::string{line} + "\r\nHost: x\r\n\r\n";
}

std::string with_field_line(std::string_view line) {
    return "GET / HTTP/1.1\r\nHost: x\r\n" + std::string{line} + "\r\n\r\n";
}

struct Rejection {
    std::string wire;
    HttpError error;
};

void expect_rejected(const std::vector<Rejection>& rejections) {
    for (const auto& [wire, error] : rejections) {
        SCOPED_TRACE(::testing::PrintToString(wire));
        const HeadOutcome outcome = head_of(wire);
        EXPECT_EQ(outcome.verdict, Verdict::rejected);
        EXPECT_EQ(info(outcome.error).name, info(error).name);
    }
}

TEST(HeadParser, TakesASmallRequest) {
    const HeadOutcome outcome =
        head_of("GET /a?b=1 HTTP/1.1\r\nHost: x:80\r\nAccept:\t*/* \r\n\r\n");
    EXPECT_EQ(outcome.verdict, Verdict::complete);
    EXPECT_EQ(outcome.consumed_bytes, 49U);
    EXPECT_EQ(outcome.method, "GET");
    EXPECT_EQ(outcome.method_id, Method::get);
    EXPECT_EQ(outcome.target, "/a?b=1");
    EXPECT_EQ(outcome.path, "/a");
    EXPECT_EQ(outcome.query, "b=1");
    EXPECT_TRUE(outcome.has_query);
    EXPECT_EQ(outcome.authority, "x:80");
    EXPECT_EQ(outcome.form, TargetForm::origin);
    EXPECT_EQ(outcome.body, BodyKind::none);
    EXPECT_EQ(outcome.content_length, 0U);
    EXPECT_EQ(outcome.minor_version, 1U);
    EXPECT_TRUE(outcome.keep_alive);
    EXPECT_FALSE(outcome.expects_continue);
    EXPECT_FALSE(outcome.upgrade);
    const std::vector<std::pair<std::string, std::string>> fields{{"Host", "x:80"},
                                                                  {"Accept", "*/*"}};
    EXPECT_EQ(outcome.fields, fields);
}

TEST(HeadParser, LeavesWhatFollowsTheHead) {
    const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n";
    const HeadOutcome outcome = head_of(head + "hello\nGET / nonsense\0"s);
    EXPECT_EQ(outcome.verdict, Verdict::complete);
    EXPECT_EQ(outcome.consumed_bytes, head.size());
}

TEST(HeadParser, AsksForMoreUntilTheLastByte) {
    const std::string head = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    for (size_t size = 0; size < head.size(); ++size) {
        EXPECT_EQ(head_of(head.substr(0, size)).verdict, Verdict::need_more) << size;
    }
    EXPECT_EQ(head_of(head).verdict, Verdict::complete);
}

TEST(HeadParser, SkipsEmptyLinesBeforeTheRequestLine) {
    const HeadOutcome outcome = head_of("\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(outcome.verdict, Verdict::complete);
    EXPECT_EQ(outcome.consumed_bytes, 33U);
    expect_rejected({{"\r\n\nGET / HTTP/1.1\r\n", HttpError::bad_line_ending},
                     {"\nGET / HTTP/1.1\r\n", HttpError::bad_line_ending},
                     {"\rGET / HTTP/1.1\r\n", HttpError::bad_line_ending},
                     {"\r\n GET / HTTP/1.1\r\n", HttpError::bad_request_line}});
}

TEST(HeadParser, TakesAnyTokenAsMethod) {
    for (const std::string& method :
         {"GET"s, "HEAD"s, "POST"s, "PUT"s, "DELETE"s, "TRACE"s, "PATCH"s, "get"s, "QUERY"s, "G"s,
          "PROPFIND"s, "!#$%&'*+-.^_`|~09az"s, std::string(64, 'M')}) {
        const HeadOutcome outcome = head_of(with_request_line(method + " / HTTP/1.1"));
        EXPECT_EQ(outcome.verdict, Verdict::complete) << method;
        EXPECT_EQ(outcome.method, method);
        EXPECT_EQ(outcome.method_id, method_of(method));
    }
}

TEST(HeadParser, RefusesWhatIsNoMethod) {
    expect_rejected(
        {{with_request_line("G(T / HTTP/1.1"), HttpError::bad_method},
         {with_request_line("GET\t/ HTTP/1.1"), HttpError::bad_method},
         {with_request_line("G\xc3\x89T / HTTP/1.1"), HttpError::bad_method},
         {with_request_line(std::string(65, 'M') + " / HTTP/1.1"), HttpError::bad_method},
         {with_request_line(" / HTTP/1.1"), HttpError::bad_request_line},
         {with_request_line("GET"), HttpError::bad_request_line},
         {"\x16\x03\x01\x02\x00\x01"s, HttpError::bad_method},
         {"\0GET / HTTP/1.1\r\n"s, HttpError::bad_method},
         {"GET\n", HttpError::bad_line_ending}});
}

TEST(HeadParser, RefusesAnOverlongMethodBeforeItsEnd) {
    EXPECT_EQ(head_of(std::string(64, 'M')).verdict, Verdict::need_more);
    EXPECT_EQ(head_of(std::string(65, 'M')).error, HttpError::bad_method);
}

TEST(HeadParser, WantsExactlyOneSpaceBetweenTheParts) {
    expect_rejected({{with_request_line("GET  / HTTP/1.1"), HttpError::bad_request_line},
                     {with_request_line("GET /  HTTP/1.1"), HttpError::bad_version},
                     {with_request_line("GET / HTTP/1.1 "), HttpError::bad_version},
                     {with_request_line("GET /\tHTTP/1.1"), HttpError::bad_target},
                     {with_request_line("GET /a b HTTP/1.1"), HttpError::bad_version},
                     {with_request_line("GET /"), HttpError::bad_request_line},
                     {with_request_line("GET "), HttpError::bad_request_line},
                     {with_request_line("GET / "), HttpError::bad_version}});
}

TEST(HeadParser, SplitsPathAndQuery) {
    struct Case {
        std::string target, path, query;
        bool has_query;
    };
    const std::string longest(100, 'p');
    for (const Case& one :
         std::vector<Case>{{"/", "/", "", false},
                           {"/?", "/", "", true},
                           {"/a?b?c", "/a", "b?c", true},
                           {"/" + longest, "/" + longest, "", false},
                           {"/" + longest + "?" + longest, "/" + longest, longest, true},
                           {"//a//", "//a//", "", false},
                           {"/%41%zz", "/%41%zz", "", false},
                           {"/\xe9\xff\x80?\xfe", "/\xe9\xff\x80", "\xfe", true},
                           {"/\"<>[]^`{|}\\", "/\"<>[]^`{|}\\", "", false}}) {
        const HeadOutcome outcome = head_of(with_request_line("GET " + one.target + " HTTP/1.1"));
        EXPECT_EQ(outcome.verdict, Verdict::complete) << one.target;
        EXPECT_EQ(outcome.target, one.target);
        EXPECT_EQ(outcome.path, one.path);
        EXPECT_EQ(outcome.query, one.query);
        EXPECT_EQ(outcome.has_query, one.has_query);
    }
}

TEST(HeadParser, RefusesControlsDelAndFragmentsInTargets) {
    // At each place of a vector lane.
    for (size_t before = 0; before < 40; ++before) {
        for (const char bad : {'\0', '\x01', '\t', '\x1f', '\x7f', '#', '\v', '\x1b'}) {
            const std::string target = "/" + std::string(before, 'a') + bad + "b";
            EXPECT_EQ(head_of(with_request_line("GET " + target + " HTTP/1.1")).error,
                      HttpError::bad_target);
        }
    }
    expect_rejected({{"GET /\nHost: x\r\n", HttpError::bad_line_ending}});
}

TEST(HeadParser, SortsTheFormsOfTargets) {
    struct Case {
        std::string line;
        TargetForm form;
        std::string path, query, authority;
    };
    for (const Case& one : std::vector<Case>{
             {"GET http://a.example:8080/p?q HTTP/1.1", TargetForm::absolute, "/p", "q",
              "a.example:8080"},
             {"GET HTTPS://a/ HTTP/1.1", TargetForm::absolute, "/", "", "a"},
             {"GET http://a HTTP/1.1", TargetForm::absolute, "/", "", "a"},
             {"GET http://a?q=/ HTTP/1.1", TargetForm::absolute, "/", "q=/", "a"},
             {"GET http://[::1]:80/x HTTP/1.1", TargetForm::absolute, "/x", "", "[::1]:80"},
             {"OPTIONS http://a/ HTTP/1.1", TargetForm::absolute, "/", "", "a"},
             {"OPTIONS * HTTP/1.1", TargetForm::asterisk, "*", "", "x"},
             {"OPTIONS /a HTTP/1.1", TargetForm::origin, "/a", "", "x"},
             {"CONNECT a:443 HTTP/1.1", TargetForm::authority, "a:443", "", "x"},
             {"CONNECT [2001:db8::1]:443 HTTP/1.1", TargetForm::authority, "[2001:db8::1]:443", "",
              "x"}}) {
        const HeadOutcome outcome = head_of(with_request_line(one.line));
        EXPECT_EQ(outcome.verdict, Verdict::complete) << one.line;
        EXPECT_EQ(outcome.form, one.form) << one.line;
        EXPECT_EQ(outcome.path, one.path);
        EXPECT_EQ(outcome.query, one.query);
        EXPECT_EQ(outcome.authority, one.authority);
    }
}

TEST(HeadParser, RefusesFormsOutOfPlace) {
    for (const std::string& line : {"GET * HTTP/1.1"s,
                                    "OPTIONS ** HTTP/1.1"s,
                                    "OPTIONS *? HTTP/1.1"s,
                                    "GET x:80 HTTP/1.1"s,
                                    "GET a/b HTTP/1.1"s,
                                    "GET ?a HTTP/1.1"s,
                                    "GET http:/a HTTP/1.1"s,
                                    "GET http:// HTTP/1.1"s,
                                    "GET http:///a HTTP/1.1"s,
                                    "GET http://u@a/ HTTP/1.1"s,
                                    "GET http://a:b/ HTTP/1.1"s,
                                    "GET http://a:65536/ HTTP/1.1"s,
                                    "GET http://:80/ HTTP/1.1"s,
                                    "GET ftp://a/ HTTP/1.1"s,
                                    "GET http\x1a//a/ HTTP/1.1"s,
                                    "CONNECT / HTTP/1.1"s,
                                    "CONNECT a HTTP/1.1"s,
                                    "CONNECT a: HTTP/1.1"s,
                                    "CONNECT :80 HTTP/1.1"s,
                                    "CONNECT a:0x50 HTTP/1.1"s,
                                    "CONNECT a:80/ HTTP/1.1"s,
                                    "CONNECT a:80?q HTTP/1.1"s,
                                    "CONNECT http://a:80 HTTP/1.1"s,
                                    "CONNECT * HTTP/1.1"s}) {
        const HeadOutcome outcome = head_of(with_request_line(line));
        EXPECT_EQ(outcome.verdict, Verdict::rejected) << line;
        EXPECT_EQ(outcome.error, HttpError::bad_target) << line;
    }
}

TEST(HeadParser, RefusesAHopelessTargetBeforeItsEnd) {
    for (const std::string& seen : {"GET a"s, "GET *"s, "GET httq"s, "CONNECT /"s, "OPTIONS *a"s}) {
        EXPECT_EQ(head_of(seen).error, HttpError::bad_target) << seen;
    }
    for (const std::string& seen : {"GET h"s, "GET https:/"s, "OPTIONS *"s, "CONNECT a"s}) {
        EXPECT_EQ(head_of(seen).verdict, Verdict::need_more) << seen;
    }
}

TEST(HeadParser, SpeaksVersionsOneDotAnything) {
    for (const auto& [version, minor] : std::vector<std::pair<std::string, unsigned>>{
             {"1.0", 0}, {"1.1", 1}, {"1.2", 1}, {"1.9", 1}}) {
        const HeadOutcome outcome = head_of(with_request_line("GET / HTTP/" + version));
        EXPECT_EQ(outcome.verdict, Verdict::complete) << version;
        EXPECT_EQ(outcome.minor_version, minor) << version;
    }
    for (const std::string& version : {"2.0"s, "0.9"s, "3.0"s, "9.9"s}) {
        EXPECT_EQ(head_of(with_request_line("GET / HTTP/" + version)).error,
                  HttpError::version_not_supported);
    }
}

TEST(HeadParser, RefusesMalformedVersions) {
    for (const std::string& version :
         {"HTTP/1"s, "HTTP/1."s, "HTTP/1.x"s, "HTTP/11"s, "HTTP/1.10"s, "HTTP/01.1"s, "http/1.1"s,
          "HTTP/1,1"s, "HTTP 1.1"s, "HTTP/ 1.1"s, "HTTPS/1.1"s, "HTTP/1.1\t"s, "ICE/1.0"s,
          "HTTP/-1.1"s, "HTTP/1.1\x80"s}) {
        EXPECT_EQ(head_of(with_request_line("GET / " + version)).error, HttpError::bad_version)
            << version;
    }
    EXPECT_EQ(head_of("GET / HTTQ").error, HttpError::bad_version);
}

TEST(HeadParser, RefusesLoneLineFeedsAndCarriageReturns) {
    expect_rejected({{"GET / HTTP/1.1\nHost: x\n\n", HttpError::bad_line_ending},
                     {"GET / HTTP/1.1\rHost: x\r\r", HttpError::bad_line_ending},
                     {"GET / HTTP/1.1\r\nHost: x\n\r\n", HttpError::bad_line_ending},
                     {"GET / HTTP/1.1\r\nHost: x\rY: z\r\n\r\n", HttpError::bad_line_ending},
                     {"GET / HTTP/1.1\r\nHost: x\r\r\n\r\n", HttpError::bad_line_ending},
                     {"GET / HTTP/1.1\r\nHost: x\r\n\n", HttpError::bad_line_ending},
                     {"GET / HTTP/1.1\r\nHost: x\r\n\rX", HttpError::bad_line_ending},
                     {"GET / HTTP/1.1\r\nHost:\nx\r\n\r\n", HttpError::bad_line_ending},
                     {"GET / HTTP/1.1\r\nHost\n: x\r\n\r\n", HttpError::bad_line_ending}});
}

TEST(HeadParser, RefusesWhatIsNoFieldName) {
    for (const std::string& line :
         {": 1"s, "Content-Length : 5"s, "Content-Length\t: 5"s, "X Y: 1"s, "X"s, "X\0: 1"s,
          "X(: 1"s, "X/: 1"s, "X\x7f: 1"s, "X\xe9: 1"s, "\"X\": 1"s, "X@: 1"s, "@: 1"s, "[: 1"s}) {
        EXPECT_EQ(head_of(with_field_line(line)).error, HttpError::bad_field_name) << line;
    }
    EXPECT_EQ(head_of("GET / HTTP/1.1\r\n Host: x\r\n\r\n").error, HttpError::bad_field_name);
}

TEST(HeadParser, NeverHidesAFieldBehindAnEmptyName) {
    const HeadOutcome outcome =
        head_of("POST /a HTTP/1.1\r\nHost: x\r\n: 1\r\nContent-Length: 5\r\n\r\nhelloGET /b ");
    EXPECT_EQ(outcome.error, HttpError::bad_field_name);
}

TEST(HeadParser, TakesEveryTokenAsFieldName) {
    const std::string name = "!#$%&'*+-.^_`|~0123456789abcXYZ-and-a-rather-long-tail_9";
    for (size_t size = 1; size <= name.size(); ++size) {
        const HeadOutcome outcome = head_of(with_field_line(name.substr(0, size) + ":v"));
        ASSERT_EQ(outcome.verdict, Verdict::complete) << size;
        EXPECT_EQ(outcome.fields[1].first, name.substr(0, size));
        EXPECT_EQ(outcome.fields[1].second, "v");
    }
}

TEST(HeadParser, RefusesFoldedLines) {
    expect_rejected({{with_field_line("X-A: one\r\n two"), HttpError::obsolete_folding},
                     {with_field_line("X-A: one\r\n\ttwo"), HttpError::obsolete_folding},
                     {with_field_line("X-A: one\r\n "), HttpError::obsolete_folding},
                     {with_field_line("X-A:\r\n Content-Length: 5"), HttpError::obsolete_folding}});
}

TEST(HeadParser, TrimsSpacesAndTabsAndNothingElse) {
    struct Case {
        std::string sent, value;
    };
    for (const Case& one : std::vector<Case>{{"X:a", "a"},
                                             {"X: a", "a"},
                                             {"X:  \t a \t ", "a"},
                                             {"X:", ""},
                                             {"X: ", ""},
                                             {"X: \t \t", ""},
                                             {"X: a b\tc", "a b\tc"},
                                             {"X: caf\xe9", "caf\xe9"},
                                             {"X: \xe9"s + "caf", "\xe9"s + "caf"},
                                             {"X: \xff", "\xff"},
                                             {"X: \xa0\x85", "\xa0\x85"},
                                             {"X: a:b::c", "a:b::c"},
                                             {"X:::", "::"}}) {
        const HeadOutcome outcome = head_of(with_field_line(one.sent));
        ASSERT_EQ(outcome.verdict, Verdict::complete) << one.sent;
        EXPECT_EQ(outcome.fields[1].second, one.value) << one.sent;
    }
}

TEST(HeadParser, RefusesControlsInFieldValues) {
    for (unsigned byte = 0; byte < 256; ++byte) {
        const std::string value = "a" + std::string(1, static_cast<char>(byte)) + "b";
        const HeadOutcome outcome = head_of(with_field_line("X: " + value));
        const bool is_ending = byte == '\r' || byte == '\n';
        const bool is_control = (byte < 0x20 && byte != '\t') || byte == 0x7f;
        const HttpError expected = is_ending    ? HttpError::bad_line_ending
                                   : is_control ? HttpError::bad_field_value
                                                : HttpError::none;
        EXPECT_EQ(info(outcome.error).name, info(expected).name) << byte;
    }
}

TEST(HeadParser, TakesValuesOfEveryLength) {
    for (size_t size = 0; size < 80; ++size) {
        const std::string value(size, 'v');
        const HeadOutcome outcome = head_of(with_field_line("X: " + value));
        ASSERT_EQ(outcome.verdict, Verdict::complete) << size;
        EXPECT_EQ(outcome.fields[1].second, value);
    }
}

TEST(HeadParser, FindsFieldsInAnyCase) {
    const std::vector<Field> fields{{"Accept", "a"}, {"X-B", "1"}, {"x-b", "2"}};
    ASSERT_NE(find_field(fields, "x-B"), nullptr);
    EXPECT_EQ(*find_field(fields, "x-B"), "1");
    EXPECT_EQ(*find_field(fields, "ACCEPT"), "a");
    EXPECT_EQ(find_field(fields, "X-C"), nullptr);
    EXPECT_EQ(find_field(fields, "X-"), nullptr);
    EXPECT_EQ(find_field({}, "X-B"), nullptr);
}

// The caller keeps one RequestHead for all requests and does not clear it.
TEST(HeadParser, SetsEveryMemberOfAHeadThatWasUsedBefore) {
    const HttpLimits limits;
    std::vector<Field> storage(limits.fields_max);
    const auto parse = [&](std::string_view message, RequestHead& head) {
        const std::string padded = std::string{message} + std::string(scan_padding_bytes, '\0');
        const auto bytes = PaddedBytes::promise(padded.data(), message.size());
        const HeadStep step = parse_head(bytes, limits, storage, head);
        EXPECT_EQ(step.verdict, Verdict::complete);
    };
    RequestHead head;
    parse(
        "POST http://other/p?q HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
        "Expect: 100-continue\r\nConnection: close, upgrade\r\nUpgrade: y\r\n\r\n",
        head);
    EXPECT_TRUE(head.has_query && head.expects_continue && head.upgrade && !head.keep_alive);
    parse("POST /a HTTP/1.0\r\nContent-Length: 7\r\nConnection: keep-alive\r\n\r\n", head);
    EXPECT_EQ(head.content_length, 7u);
    parse("GET / HTTP/1.1\r\nHost: h\r\n\r\n", head);
    EXPECT_EQ(head.form, TargetForm::origin);
    EXPECT_EQ(head.method_id, Method::get);
    EXPECT_EQ(head.body, BodyKind::none);
    EXPECT_EQ(head.content_length, 0u);
    EXPECT_EQ(head.minor_version, 1);
    EXPECT_FALSE(head.has_query);
    EXPECT_TRUE(head.query.empty());
    EXPECT_TRUE(head.keep_alive);
    EXPECT_FALSE(head.expects_continue);
    EXPECT_FALSE(head.upgrade);
    EXPECT_EQ(head.fields.size(), 1u);
}

}  // namespace
}  // namespace millrace::http
