#include "bench/load/response_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace millrace::load {
namespace {

const std::string response =
    "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 5\r\n\r\nhello";
const std::string later =
    "HTTP/1.1 200 OK\r\nDate: Mon, 07 Nov 1994 00:00:00 GMT\r\nContent-Length: 5\r\n\r\nhello";
const std::string reordered =
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\nhello";

// A lane's expectation and template, learned from `response`.
struct Learned {
    Learned() { bytes.learn(response, response.find("Sun,")); }
    Expectation expected{.body = "hello"};
    ResponseTemplate bytes;
};

TEST(ResponseTemplate, matches_itself_with_any_well_formed_date) {
    Learned learned;
    EXPECT_TRUE(learned.bytes.matches(response.data()));
    EXPECT_TRUE(learned.bytes.matches(later.data()));
    EXPECT_TRUE(learned.bytes.matches(later.data()));
    EXPECT_TRUE(learned.bytes.matches(response.data()));
    EXPECT_FALSE(learned.bytes.matches(reordered.data()));
}

TEST(ResponseTemplate, notices_every_changed_byte) {
    for (size_t i = 0; i < response.size(); ++i) {
        Learned learned;
        std::string changed = response;
        changed[i] = '\x01';
        EXPECT_FALSE(learned.bytes.matches(changed.data())) << "byte " << i;
    }
}

TEST(ResponseTemplate, has_no_hole_without_a_date) {
    ResponseTemplate bytes;
    bytes.learn("abc", std::nullopt);
    EXPECT_TRUE(bytes.matches("abc"));
    EXPECT_FALSE(bytes.matches("abd"));
}

TEST(ImfFixdate, is_recognised) {
    EXPECT_TRUE(is_imf_fixdate("Sun, 06 Nov 1994 08:49:37 GMT"));
    EXPECT_FALSE(is_imf_fixdate("Sun, 06 Nov 1994 08:49:37 UTC"));
    EXPECT_FALSE(is_imf_fixdate("Son, 06 Nov 1994 08:49:37 GMT"));
    EXPECT_FALSE(is_imf_fixdate("Sun, 06 Now 1994 08:49:37 GMT"));
    EXPECT_FALSE(is_imf_fixdate("Sun, 06 Nov 1994 08:49:3x GMT"));
    EXPECT_FALSE(is_imf_fixdate("Sun, 06 Nov 1994 08:49:37 GM"));
}

TEST(ResponseStream, counts_whole_responses_without_parsing) {
    Learned learned;
    ResponseStream stream(learned.expected, learned.bytes);
    const auto progress = stream.feed(response + later + response, 3);
    EXPECT_EQ(progress.completed, 3u);
    EXPECT_EQ(progress.parsed, 0u);
    EXPECT_EQ(progress.error, ErrorKind::none);
}

TEST(ResponseStream, survives_a_cut_at_every_byte) {
    const std::string bytes = response + later + reordered + response;
    for (size_t cut = 1; cut < bytes.size(); ++cut) {
        Learned learned;
        ResponseStream stream(learned.expected, learned.bytes);
        const auto first = stream.feed(std::string_view(bytes).substr(0, cut), 4);
        const auto second = stream.feed(std::string_view(bytes).substr(cut), 4 - first.completed);
        EXPECT_EQ(first.error, ErrorKind::none);
        EXPECT_EQ(second.error, ErrorKind::none);
        EXPECT_EQ(first.completed + second.completed, 4u) << "cut at " << cut;
        EXPECT_GE(first.parsed + second.parsed, 1u);
        EXPECT_LE(first.parsed + second.parsed, 2u);
    }
}

TEST(ResponseStream, takes_single_bytes) {
    Learned learned;
    ResponseStream stream(learned.expected, learned.bytes);
    uint32_t completed = 0;
    for (const char& byte : response + reordered) {
        const auto progress = stream.feed({&byte, 1}, 2 - completed);
        EXPECT_EQ(progress.error, ErrorKind::none);
        completed += progress.completed;
    }
    EXPECT_EQ(completed, 2u);
}

TEST(ResponseStream, works_before_anything_is_learned) {
    const Expectation expected{.body = "hello"};
    ResponseTemplate nothing;
    ResponseStream stream(expected, nothing);
    const auto progress = stream.feed(response + later, 2);
    EXPECT_EQ(progress.completed, 2u);
    EXPECT_EQ(progress.parsed, 2u);
}

TEST(ResponseStream, rejects_what_nobody_asked_for) {
    Learned learned;
    ResponseStream stream(learned.expected, learned.bytes);
    const auto progress = stream.feed(response + response, 1);
    EXPECT_EQ(progress.completed, 1u);
    EXPECT_EQ(progress.error, ErrorKind::protocol);
}

TEST(ResponseStream, counts_the_good_ones_before_an_error) {
    const std::string wrong_status =
        "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 5\r\n\r\nhello";
    std::string wrong_body = response;
    wrong_body.back() = 'O';
    Learned learned;
    ResponseStream one(learned.expected, learned.bytes);
    const auto status = one.feed(response + wrong_status + response, 3);
    EXPECT_EQ(status.completed, 1u);
    EXPECT_EQ(status.error, ErrorKind::status);
    ResponseStream other(learned.expected, learned.bytes);
    const auto body = other.feed(response + wrong_body, 2);
    EXPECT_EQ(body.completed, 1u);
    EXPECT_EQ(body.error, ErrorKind::body);
}

}  // namespace
}  // namespace millrace::load
