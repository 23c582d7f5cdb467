// Answers that are written piece by piece, to peers that read slowly; and how answers are framed.
#include "tests/scenarios/scenario.h"

namespace millrace::scenarios {
namespace {

class Streaming : public OnBoth {
  protected:
    Site site{network};
    App& app = site.app;
};

MILLRACE_ON_BOTH(Streaming);

TEST_P(Streaming, ChunkByChunk) {
    app.get("/", [](Response& response, Request&) {
        response.header("x-a", "b");
        EXPECT_TRUE(response.write("one "));
        EXPECT_TRUE(response.write(""));
        EXPECT_TRUE(response.write("two "));
        EXPECT_EQ(response.write_offset(), 8u);
        response.end("three");
    });
    Peer peer = site.send(get("/") + get("/"));
    site.expect_said(peer, "200 one two three; 200 one two three");
    EXPECT_EQ(peer.answers().answers[0].field("transfer-encoding"), "chunked");
}

TEST_P(Streaming, LargeChunks) {
    const std::string large = pattern(100'000);
    app.get("/", [&](Response& response, Request&) {
        response.write(large);
        response.write("small");
        response.write(large);
        response.end(large);
    });
    Peer peer = site.send(get("/") + get("/"));
    const std::string one = "200 " + large + "small" + large + large;
    site.expect_said(peer, one + "; " + one);
}

TEST_P(Streaming, TheHeadAlone) {
    std::optional<Response> open;
    app.get("/", [&](Response& response, Request&) {
        open = response;
        response.status("202 Soon").begin_write();
    });
    Peer peer = site.send(get("/"));
    site.expect_said(peer, "202...");
    EXPECT_THROW(open->status("200"), Error);
    site.loop.post([&] { open->end(); });
    site.expect_said(peer, "202");
}

TEST_P(Streaming, OnePieceATimeAsFastAsThePeerReads) {
    const std::string piece = pattern(5'000);
    const int count = static_cast<int>(2 * more_than_buffered() / piece.size());
    int written = 0, signals = 0;
    std::string expected = "200 ";
    std::optional<Response> open;
    const auto write_some = [&] {
        while (written < count) {
            ++written;
            expected += piece;
            if (!open->write(piece)) return false;
        }
        open->end();
        return true;
    };
    app.get("/", [&](Response& response, Request&) {
        open = response;
        if (write_some()) return;
        app.on_writable(response, [&](uint64_t offset) {
            ++signals;
            EXPECT_EQ(offset, static_cast<uint64_t>(written) * piece.size());
            EXPECT_EQ(open->queued_bytes(), 0u);
            return write_some();
        });
    });
    Peer peer = site.connect({.buffer_bytes = 20'000});
    peer->read_automatically(false);
    peer->send(get("/"));
    site.settle();
    EXPECT_LT(written, count);
    EXPECT_GT(open->queued_bytes(), 0u);
    peer->read_automatically(true);
    site.until([&] { return written == count && !open->is_open(); });
    site.expect_said(peer, expected);
    EXPECT_GT(signals, 0);
}

TEST_P(Streaming, AllAtOnceToAPeerThatReadsLate) {
    const std::string body = pattern(more_than_buffered());
    app.get("/", [&](Response& response, Request&) { response.end(body); });
    Peer peer = site.connect({.buffer_bytes = 10'000});
    peer->read_automatically(false);
    peer->send(get("/") + get("/none") + get("/"));
    site.settle();
    for (int count = 0; count < 20; ++count) {
        peer->read_some(3'000);
        site.turn();
    }
    peer->read_automatically(true);
    site.expect_said(peer, "200 " + body + "; 404 Not Found; 200 " + body);
}

TEST_P(Streaming, TryEndQueuesNothing) {
    const std::string body = pattern(2 * more_than_buffered());
    std::optional<Response> open;
    int refusals = 0;
    const auto go_on = [&] {
        const uint64_t offset = open->write_offset();
        const TryEnd result = open->try_end(std::string_view{body}.substr(offset), body.size());
        EXPECT_EQ(result.accepted, result.done);
        if (!result.done) {
            ++refusals;
            EXPECT_EQ(open->queued_bytes(), 0u);
        }
        return result.done;
    };
    app.get("/", [&](Response& response, Request&) {
        open = response;
        if (go_on()) return;
        app.on_writable(response, [&](uint64_t offset) {
            EXPECT_EQ(offset, open->write_offset());
            return go_on();
        });
    });
    Peer peer = site.connect({.buffer_bytes = 30'000});
    peer->read_automatically(false);
    peer->send(get("/") + get("/none"));
    site.settle();
    EXPECT_GT(refusals, 0);
    peer->read_automatically(true);
    site.expect_said(peer, "200 " + body + "; 404 Not Found");
    EXPECT_EQ(peer.answers().answers[0].field("content-length"), std::to_string(body.size()));
}

TEST_P(Streaming, TryEndInPieces) {
    app.get("/", [](Response& response, Request&) {
        EXPECT_TRUE(response.try_end("abc", 9).accepted);
        EXPECT_THROW(response.try_end("defghij", 9), Error);
        EXPECT_THROW(response.write("x"), Error);
        EXPECT_THROW(response.end("x"), Error);
        EXPECT_THROW(response.end_without_body(), Error);
        const TryEnd middle = response.try_end("def", 9);
        EXPECT_TRUE(middle.accepted);
        EXPECT_FALSE(middle.done);
        EXPECT_TRUE(response.try_end("ghi", 9).done);
        EXPECT_FALSE(response.is_open());
    });
    Peer peer = site.send(get("/") + get("/"));
    site.expect_said(peer, "200 abcdefghi; 200 abcdefghi");
}

TEST_P(Streaming, TryEndWaitsForTheAnswersBefore) {
    std::vector<Response> open;
    const std::string body = pattern(50'000);
    bool is_done = false;
    app.get("/first", [&](Response& response, Request&) { open.push_back(response); });
    app.get("/second", [&](Response& response, Request&) {
        open.push_back(response);
        EXPECT_FALSE(response.try_end(body, body.size()).accepted);
        app.on_writable(response, [&](uint64_t offset) {
            return is_done = open[1].try_end(body.substr(offset), body.size()).done;
        });
    });
    Peer peer = site.send(get("/first") + get("/second"));
    ASSERT_TRUE(site.until([&] { return open.size() == 2; }));
    site.settle();
    EXPECT_FALSE(is_done);
    site.loop.post([&] { open[0].end("first"); });
    site.expect_said(peer, "200 first; 200 " + body);
    EXPECT_TRUE(is_done);
}

TEST_P(Streaming, BehindAnUnansweredRequest) {
    std::vector<Response> open;
    const std::string large = pattern(100'000);
    app.get("/:id", [&](Response& response, Request&) { open.push_back(response); });
    Peer peer = site.send(get("/0") + get("/1") + get("/2"));
    ASSERT_TRUE(site.until([&] { return open.size() == 3; }));
    int signals = 0;
    site.loop.post([&] {
        EXPECT_FALSE(open[1].write("a"));
        EXPECT_FALSE(open[1].write(large));
        EXPECT_GT(open[1].queued_bytes(), large.size());
        app.on_writable(open[1], [&](uint64_t) { return ++signals > 0; });
        open[2].write("third ");
        open[2].end(large);
    });
    site.settle();
    EXPECT_EQ(peer.said(), "");
    EXPECT_EQ(signals, 0);
    site.loop.post([&] { open[0].end(large); });
    ASSERT_TRUE(site.until([&] { return signals == 1; }));
    site.loop.post([&] { open[1].end("z"); });
    site.expect_said(peer, "200 " + large + "; 200 a" + large + "z; 200 third " + large);
}

TEST_P(Streaming, PreparedHeads) {
    PreparedHead head;
    head.status("203 Prepared").header("x-a", "1").header("x-b", "2");
    app.get("/end", [&](Response& response, Request&) {
        response.header("x-gone", "1");
        response.end(head, "body");
    });
    app.get("/use", [&](Response& response, Request&) {
        response.header("x-gone", "1");
        response.use(head).header("x-c", "3").write("chunk");
        EXPECT_THROW(response.use(head), Error);
        response.end();
    });
    Peer peer = site.send(get("/end") + get("/use") + get("/end"));
    site.expect_said(peer, "203 body; 203 chunk; 203 body");
    for (const auto& answer : peer.answers().answers) {
        EXPECT_EQ(answer.reason, "Prepared");
        EXPECT_EQ(answer.field("x-a") + answer.field("x-b"), "12");
        EXPECT_EQ(answer.count("x-gone"), 0u);
    }
    EXPECT_EQ(peer.answers().answers[1].field("x-c"), "3");
}

TEST_P(Streaming, WrongCallsThrowAndHarmNothing) {
    app.get("/", [](Response& response, Request&) {
        EXPECT_THROW(response.status("99"), Error);
        EXPECT_THROW(response.status("100 Continue"), Error);
        EXPECT_THROW(response.status("200 a\r\nb"), Error);
        EXPECT_THROW(response.header("a b", "c"), Error);
        EXPECT_THROW(response.header("a", "b\r\nc: d"), Error);
        EXPECT_THROW(response.header("transfer-encoding", "gzip"), Error);
        EXPECT_THROW(response.try_end("abc", 2), Error);
        response.header("transfer-encoding", "chunked").header("content-length", "77");
        response.end("fine");
        EXPECT_THROW(response.end("again"), Error);
        EXPECT_THROW(response.write("again"), Error);
        EXPECT_THROW(response.close(), Error);
        EXPECT_THROW(response.write_offset(), Error);
    });
    Peer peer = site.send(get("/") + get("/"));
    site.expect_said(peer, "200 fine; 200 fine");
}

// --- Framing -----------------------------------------------------------------------------------

TEST_P(Streaming, AnswersToHead) {
    app.get("/end", [](Response& response, Request&) { response.end("body"); });
    app.get("/write", [](Response& response, Request&) {
        response.write("bo");
        response.end("dy");
    });
    app.get("/try",
            [](Response& response, Request&) { EXPECT_TRUE(response.try_end("bo", 4).done); });
    app.get("/reported", [](Response& response, Request&) { response.end_without_body(1234); });
    app.get("/unknown", [](Response& response, Request&) { response.end_without_body(); });
    app.get("/declared",
            [](Response& response, Request&) { response.header("Content-Length", "99").end(); });
    std::string wire;
    for (const char* path : {"/end", "/write", "/try", "/reported", "/unknown", "/declared"})
        wire += request("HEAD", path);
    Peer peer = site.send(wire + get("/end"));
    peer.asks({"HEAD", "HEAD", "HEAD", "HEAD", "HEAD", "HEAD"});
    site.expect_said(peer, "200; 200; 200; 200; 200; 200; 200 body");
    std::vector<std::string> lengths;
    for (const auto& answer : peer.answers().answers)
        lengths.push_back(answer.field("content-length") + answer.field("transfer-encoding"));
    EXPECT_THAT(lengths, ::testing::ElementsAre("4", "chunked", "4", "1234", "", "99", "4"));
}

TEST_P(Streaming, StatusesWithoutABody) {
    app.get("/:status/end", [](Response& response, Request& request) {
        response.status(*request.parameter("status")).end("body");
    });
    app.get("/:status/write", [](Response& response, Request& request) {
        response.status(*request.parameter("status")).write("body");
        response.end("more");
    });
    app.get("/:status/none", [](Response& response, Request& request) {
        response.status(*request.parameter("status")).end_without_body();
    });
    Peer peer =
        site.send(get("/204/end") + get("/204/write") + get("/204/none") + get("/304/end") +
                  get("/304/write") + get("/304/none") + get("/200/none") + get("/200/end"));
    site.expect_said(peer, "204; 204; 204; 304; 304; 304; 200; 200 body");
    std::vector<std::string> lengths;
    for (const auto& answer : peer.answers().answers)
        lengths.push_back(answer.field("content-length") + answer.field("transfer-encoding"));
    EXPECT_THAT(lengths, ::testing::ElementsAre("", "", "", "", "", "", "0", "4"));
}

TEST_P(Streaming, ALengthWithoutTheBytesClosesTheConnection) {
    app.get("/", [](Response& response, Request&) { response.end_without_body(10); });
    Peer peer = site.send(get("/") + get("/"));
    site.expect_said(peer, "200...; end");
}

TEST_P(Streaming, Connect) {
    int way = 0;
    app.on("CONNECT", "/*", [](Response&, Request&) { ADD_FAILURE(); });
    app.on("CONNECT", "/:authority", [&](Response& response, Request& request) {
        EXPECT_EQ(request.path(), "example.org:443");
        if (way == 0) return response.end("body");
        if (way == 1) {
            response.write("body");
            return response.end("more");
        }
        if (way == 2) return static_cast<void>(response.try_end("body", 4));
        if (way == 3) return response.status("204").end("body");
        response.status("403").end("body");
    });
    const std::string wire = "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n";
    for (const char* expected : {"200; end", "200; end", "200; end", "204; end", "403 body; end"}) {
        // What stands behind it is no request.
        Peer peer = site.send(wire + get("/behind"));
        peer.asks({"CONNECT"});
        site.expect_said(peer, expected);
        ++way;
        EXPECT_EQ(site.app.stats().requests, static_cast<uint64_t>(way));
    }
}

TEST_P(Streaming, NothingBehindAConnectIsARequest) {
    std::optional<Response> open;
    app.on("CONNECT", "/:authority", [&](Response& response, Request&) { open = response; });
    Peer peer = site.send("CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n" + get("/behind"));
    peer.asks({"CONNECT"});
    ASSERT_TRUE(site.until([&] { return open.has_value(); }));
    site.settle();
    EXPECT_EQ(app.stats().requests, 1u);
    site.loop.post([&] { open->end(); });
    site.expect_said(peer, "200; end");
}

TEST_P(Streaming, Http10) {
    app.get("/end", [](Response& response, Request& request) {
        EXPECT_EQ(request.minor_version(), 0);
        response.end("body");
    });
    app.get("/write", [](Response& response, Request&) {
        response.write("bo");
        response.end("dy");
    });
    const auto old = [](std::string_view path, std::string_view fields) {
        return "GET " + std::string{path} + " HTTP/1.0\r\n" + std::string{fields} + "\r\n";
    };
    const std::string keep = "Connection: keep-alive\r\n";
    Peer plain = site.send(old("/end", "") + old("/end", ""));
    site.expect_said(plain, "200 body; end");
    Peer kept =
        site.send(old("/end", keep) + old("/end", keep) + old("/write", keep) + old("/end", keep));
    site.expect_said(kept, "200 body; 200 body; 200 body; end");
    EXPECT_EQ(kept.answers().answers[0].field("connection"), "keep-alive");
    EXPECT_EQ(kept.answers().answers[2].field("connection"), "close");
    EXPECT_EQ(kept.answers().answers[2].count("transfer-encoding"), 0u);
}

}  // namespace
}  // namespace millrace::scenarios
