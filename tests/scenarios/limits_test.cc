// Both sides of every size in HttpLimits, over the wire. The times are in timeouts_test.cc.
#include "tests/scenarios/scenario.h"

#include <fstream>
#include <sstream>

namespace millrace::scenarios {
namespace {

class Limits : public OnBoth {
  protected:
    // What a server with these limits answers.
    std::string answer_to(const HttpLimits& limits, const std::string& wire) {
        Site site{network, {.limits = limits}};
        site.app.any("/*", [&](Response& response, Request&) {
            site.app.collect_body(response, SIZE_MAX, [response](auto body) mutable {
                response.end(std::to_string(body->size()));
            });
        });
        Peer peer = site.send(wire);
        site.until([&] { return !peer.answers().answers.empty(); });
        site.settle();
        return peer.said();
    }

    static std::string chunked(std::string_view rest) {
        return request("POST", "/", "Transfer-Encoding: chunked\r\n", rest);
    }
};

MILLRACE_ON_BOTH(Limits);

TEST_P(Limits, HeadBytes) {
    const auto head_of = [](size_t bytes) {
        const std::string empty = get("/", "X: \r\n");
        return get("/", "X: " + std::string(bytes - empty.size(), 'x') + "\r\n");
    };
    for (const uint32_t max : {64u, 1000u, 16u * 1024u}) {
        EXPECT_EQ(answer_to({.head_bytes_max = max}, head_of(max)), "200 0");
        EXPECT_EQ(answer_to({.head_bytes_max = max}, head_of(max + 1)),
                  "431 the request head exceeds the limit; end");
    }
}

TEST_P(Limits, RequestLineBytes) {
    const std::string target = "/" + std::string(70, 'x');
    EXPECT_EQ(answer_to({.head_bytes_max = 64}, get(target)),
              "414 the request target exceeds the limit; end");
}

TEST_P(Limits, Fields) {
    EXPECT_EQ(answer_to({.fields_max = 3}, get("/", "A: a\r\nB: b\r\n")), "200 0");
    EXPECT_EQ(answer_to({.fields_max = 3}, get("/", "A: a\r\nB: b\r\nC: c\r\n")),
              "431 the request has more fields than the limit; end");
}

TEST_P(Limits, ChunkExtensionBytes) {
    const HttpLimits limits{.chunk_extension_bytes_max = 8};
    EXPECT_EQ(answer_to(limits, chunked("1;ab=c\r\nx\r\n0;dd\r\n\r\n")), "200 1");
    EXPECT_EQ(answer_to(limits, chunked("1;ab=c\r\nx\r\n0;ddd\r\n\r\n")),
              "400 chunk framing exceeds the limit; end");
}

TEST_P(Limits, TrailerBytes) {
    const HttpLimits limits{.trailer_bytes_max = 10};
    EXPECT_EQ(answer_to(limits, chunked("0\r\nAb: cdef\r\n\r\n")), "200 0");
    EXPECT_EQ(answer_to(limits, chunked("0\r\nAb: cdefg\r\n\r\n")),
              "431 the trailer section exceeds the limit; end");
}

TEST_P(Limits, ChunkOverhead) {
    // A chunk of one byte costs five of framing, and the last chunk three before its trailers; 16
    // KiB of framing are free: 5 * 10'000 + 3 - 16'384 = 33'619.
    const std::string wire = post_chunked("/", pattern(10'000), 1);
    EXPECT_EQ(answer_to({.chunk_overhead_percent_max = 337}, wire), "200 10000");
    EXPECT_EQ(answer_to({.chunk_overhead_percent_max = 336}, wire),
              "400 chunk framing exceeds the limit; end");
}

TEST_P(Limits, HeldBodyBytes) {
    // Nobody reads: what comes beyond the limit stays in the socket.
    for (const uint32_t max : {0u, 1u, 1000u}) {
        Site site{network, {.limits = {.body_hold_bytes_max = max}}};
        std::optional<Response> open;
        std::string read;
        site.app.any("/", [&](Response& response, Request&) { open = response; });
        Peer peer = site.send(request("POST", "/", "Content-Length: 3000\r\n"));
        ASSERT_TRUE(site.until([&] { return open.has_value(); }));
        const auto received_after = [&](std::string_view bytes) {
            peer->send(bytes);
            site.settle();
            return site.loop.stats().received_bytes;
        };
        const uint64_t before = received_after("");
        uint64_t wanted = 0;
        if (max > 0) {
            wanted = max - 1;
            EXPECT_EQ(received_after(std::string(max - 1, 'x')), before + wanted);
        }
        EXPECT_EQ(received_after("y"), before + wanted + 1);  // full now
        EXPECT_EQ(received_after("z"), before + wanted + 1);
        site.app.on_data(*open, [&](const BodyPiece& piece) { read += piece.data; });
        EXPECT_TRUE(site.until([&] { return read.size() == wanted + 2; }));
    }
}

TEST_P(Limits, DiscardedBodyBytes) {
    Site site{network, {.limits = {.body_discard_bytes_max = 100}}};
    site.app.any("/", [](Response& response, Request&) { response.end("a"); });
    Peer peer = site.send(post("/", std::string(100, 'x')) + post("/", std::string(101, 'x')));
    site.expect_said(peer, "200 a; 200 a; end");
    EXPECT_EQ(site.app.stats().requests, 2u);
}

TEST_P(Limits, Pipeline) {
    for (const uint32_t max : {1u, 5u, 65535u}) {
        Site site{network, {.limits = {.pipeline_max = max}}};
        size_t seen = 0;
        site.app.any("/", [&](Response&, Request&) { ++seen; });
        const size_t sent = std::min<size_t>(max, 200);
        std::string wire;
        for (size_t count = 0; count < sent; ++count)
            wire += get("/");
        Peer peer = site.send(wire);
        EXPECT_TRUE(site.until([&] { return seen == sent; }));
        peer->send(get("/"));
        site.settle();
        EXPECT_EQ(seen, max < 200 ? max : sent + 1);
    }
}

// Whoever adds a member to HttpLimits must test it, here or in timeouts_test.cc.
TEST(LimitsList, EveryMemberIsTested) {
    const auto text_of = [](const std::string& path) {
        std::ifstream file{std::string{MILLRACE_SOURCE_FOLDER} + "/" + path};
        return std::string{std::istreambuf_iterator<char>{file}, {}};
    };
    const std::string header = text_of("include/millrace/limits.h");
    const std::string tests =
        text_of("tests/scenarios/limits_test.cc") + text_of("tests/scenarios/timeouts_test.cc");
    size_t members = 0;
    std::istringstream lines{header};
    for (std::string type, name; lines >> type;) {
        if (!type.starts_with("uint")) continue;
        lines >> name;
        ++members;
        EXPECT_NE(tests.find("." + name), std::string::npos) << name;
    }
    EXPECT_EQ(members * sizeof(uint32_t), sizeof(HttpLimits));
}

}  // namespace
}  // namespace millrace::scenarios
