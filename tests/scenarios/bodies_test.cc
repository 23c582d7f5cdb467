// Request bodies: read at once, late, in part or never.
#include "tests/scenarios/scenario.h"

#include <stdexcept>

namespace millrace::scenarios {
namespace {

class Bodies : public OnBoth {
  protected:
    Site site{network};
    App& app = site.app;

    // What a reader was given.
    struct Log {
        std::string data;
        size_t pieces = 0;
        size_t lasts = 0;
        std::vector<uint64_t> remaining;

        void take(const BodyPiece& piece) {
            data += piece.data;
            ++pieces;
            lasts += piece.is_last ? 1u : 0u;
            remaining.push_back(piece.remaining_bytes);
        }
    };

    void add_echo(App& on) {
        on.post("/echo", [&on](Response& response, Request&) {
            on.collect_body(response, 10'000'000, [response](auto body) mutable {
                response.end(body.value_or("too large"));
            });
        });
    }
};

MILLRACE_ON_BOTH(Bodies);

TEST_P(Bodies, OfKnownLength) {
    add_echo(app);
    const std::string large = pattern(300'000);
    Peer peer = site.send(post("/echo", "") + post("/echo", "abc") + post("/echo", large) +
                          post("/echo", "behind"));
    site.expect_said(peer, "200; 200 abc; 200 " + large + "; 200 behind");
}

TEST_P(Bodies, InChunks) {
    add_echo(app);
    const std::string large = pattern(300'000);
    Peer peer = site.send(post_chunked("/echo", "", 1) + post_chunked("/echo", "abcde", 2) +
                          post_chunked("/echo", large, 1000) + post("/echo", "behind"));
    site.expect_said(peer, "200; 200 abcde; 200 " + large + "; 200 behind");
}

TEST_P(Bodies, PiecesSayWhatIsLeft) {
    Log log;
    app.post("/", [&](Response& response, Request& request) {
        EXPECT_TRUE(request.has_body());
        EXPECT_EQ(request.content_length(), 9u);
        app.on_data(response, [&, response](const BodyPiece& piece) mutable {
            log.take(piece);
            if (piece.is_last) response.end(log.data);
        });
    });
    const std::string wire = post("/", "abcdefghi");
    Peer peer = site.send(wire.substr(0, wire.size() - 6));
    ASSERT_TRUE(site.until([&] { return log.pieces == 1; }));
    peer->send(wire.substr(wire.size() - 6));
    site.expect_said(peer, "200 abcdefghi");
    EXPECT_EQ(log.remaining, (std::vector<uint64_t>{6, 0}));
    EXPECT_EQ(log.lasts, 1u);
}

TEST_P(Bodies, ReadLate) {
    std::optional<Response> open;
    app.post("/", [&](Response& response, Request&) { open = response; });
    const std::string body = pattern(50'000);
    Peer peer = site.send(post("/", body) + get("/behind"));
    ASSERT_TRUE(site.until([&] { return open.has_value(); }));
    site.settle();
    Log log;
    app.on_data(*open, [&](const BodyPiece& piece) {
        log.take(piece);
        if (piece.is_last) open->end("read");
    });
    site.expect_said(peer, "200 read; 404 Not Found");
    EXPECT_EQ(log.data, body);
    EXPECT_EQ(log.lasts, 1u);
}

TEST_P(Bodies, LargerThanTheHoldWindowReadLate) {
    std::optional<Response> open;
    app.post("/", [&](Response& response, Request&) { open = response; });
    const std::string body = pattern(2'000'000);
    Peer peer = site.send(post("/", body));
    ASSERT_TRUE(site.until([&] { return open.has_value(); }));
    site.settle();
    // The engine has stopped to read: most of it is still on the way.
    EXPECT_LT(site.loop.stats().received_bytes, 300'000u);
    Log log;
    app.on_data(*open, [&](const BodyPiece& piece) {
        log.take(piece);
        if (piece.is_last) open->end("read");
    });
    site.expect_said(peer, "200 read");
    EXPECT_EQ(log.data, body);
    EXPECT_EQ(log.lasts, 1u);
    for (size_t piece = 1; piece < log.remaining.size(); ++piece)
        EXPECT_LT(log.remaining[piece], log.remaining[piece - 1]);
}

TEST_P(Bodies, OfAnEarlierRequestReadFromALaterHandler) {
    std::optional<Response> open;
    Log log;
    app.post("/", [&](Response& response, Request&) { open = response; });
    app.get("/read", [&](Response& response, Request&) {
        app.on_data(*open, [&log](const BodyPiece& piece) { log.take(piece); });
        response.end("later");
        open->end("earlier");
    });
    app.get("/only-read", [&](Response&, Request&) {
        app.on_data(*open, [&log](const BodyPiece& piece) { log.take(piece); });
    });
    Peer peer = site.send(post("/", "held") + get("/read"));
    site.expect_said(peer, "200 earlier; 200 later");
    // It was complete before the held part could be delivered.
    EXPECT_EQ(log.pieces, 0u);
    Peer other = site.send(post("/", "held") + get("/only-read"));
    EXPECT_TRUE(site.until([&] { return log.lasts == 1; }));
    EXPECT_EQ(log.data, "held");
}

TEST_P(Bodies, NothingIsDeliveredAfterTheAnswer) {
    std::vector<Response> open;
    Log log;
    app.get("/first", [&](Response& response, Request&) { open.push_back(response); });
    app.post("/", [&](Response& response, Request&) { open.push_back(response); });
    Peer peer = site.send(get("/first") + post("/", pattern(1000)));
    ASSERT_TRUE(site.until([&] { return open.size() == 2; }));
    site.settle();
    site.loop.post([&] {
        // The answer is complete, but must wait for the first one: the exchange lives on.
        app.on_data(open[1], [&log](const BodyPiece& piece) { log.take(piece); });
        open[1].end("second");
    });
    site.settle();
    EXPECT_EQ(log.pieces, 0u);
    site.loop.post([&] { open[0].end("first"); });
    site.expect_said(peer, "200 first; 200 second");
    EXPECT_EQ(log.pieces, 0u);
}

TEST_P(Bodies, NeverRead) {
    app.post("/", [](Response& response, Request&) { response.end("no thanks"); });
    std::string wire, expected;
    for (int count = 0; count < 5; ++count) {
        wire += post("/", pattern(150'000));
        expected += count ? "; 200 no thanks" : "200 no thanks";
    }
    Peer peer = site.send(wire);
    site.expect_said(peer, expected);
}

TEST_P(Bodies, MoreThanIsDiscardedClosesTheConnection) {
    Site strict{network, {.limits = {.body_discard_bytes_max = 10'000}}};
    strict.app.post("/", [](Response& response, Request&) { response.end("no thanks"); });
    Peer peer = strict.send(post("/", pattern(10'000)) + post("/", pattern(10'001)) + get("/"));
    strict.expect_said(peer, "200 no thanks; 200 no thanks; end");
    EXPECT_EQ(strict.app.stats().requests, 2u);
    peer->close();
    strict.expect_all_gone();
}

TEST_P(Bodies, PauseAndResume) {
    std::optional<Response> open;
    Log log;
    app.post("/", [&](Response& response, Request&) {
        open = response;
        app.on_data(response, [&](const BodyPiece& piece) {
            log.take(piece);
            open->pause();
            if (piece.is_last) open->end("done");
        });
    });
    const std::string body = pattern(1'000'000);
    Peer peer = site.send(post("/", body));
    ASSERT_TRUE(site.until([&] { return log.pieces == 1; }));
    while (open->is_open()) {
        site.settle();
        const size_t before = log.pieces;
        site.settle();
        ASSERT_EQ(log.pieces, before);
        open->resume();
        ASSERT_TRUE(site.until([&] { return log.pieces == before + 1; }));
    }
    site.expect_said(peer, "200 done");
    EXPECT_EQ(log.data, body);
}

TEST_P(Bodies, AReaderDoesNotEndAPause) {
    std::optional<Response> open;
    Log log;
    app.post("/", [&](Response& response, Request&) { open = response; });
    Peer peer = site.send(post("/", "held"));
    ASSERT_TRUE(site.until([&] { return open.has_value(); }));
    site.settle();
    open->pause();
    app.on_data(*open, [&](const BodyPiece& piece) { log.take(piece); });
    site.settle();
    EXPECT_EQ(log.pieces, 0u);
    open->resume();
    EXPECT_TRUE(site.until([&] { return log.lasts == 1; }));
    EXPECT_EQ(log.data, "held");
}

TEST_P(Bodies, AReaderPutsAnotherInItsPlace) {
    const std::string capture = pattern(100);
    std::string trace;
    std::optional<Response> open;
    app.post("/", [&, capture](Response& response, Request&) {
        open = response;
        app.on_data(response, [&, capture](const BodyPiece& piece) {
            app.on_data(*open, [&](const BodyPiece& next) {
                trace += "second " + std::string{next.data};
                if (next.is_last) open->end("done");
            });
            trace += "first " + std::string{piece.data} + " " + capture.substr(0, 3) + " ";
        });
    });
    const std::string wire = post("/", "ab");
    Peer peer = site.send(wire.substr(0, wire.size() - 1));
    ASSERT_TRUE(site.until([&] { return !trace.empty(); }));
    peer->send("b");
    site.expect_said(peer, "200 done");
    EXPECT_EQ(trace, "first a 0,1 second b");
}

TEST_P(Bodies, CollectedUpToALimit) {
    app.post("/", [&](Response& response, Request&) {
        app.collect_body(response, 4, [response](auto body) mutable {
            response.end(body ? "got " + *body : "too large");
        });
    });
    app.get("/", [&](Response& response, Request&) {
        app.collect_body(response, 4, [response](auto body) mutable {
            response.end(body && body->empty() ? "empty" : "?");
        });
    });
    Peer peer = site.send(post("/", "1234") + post("/", "12345") + get("/") +
                          post_chunked("/", "1234", 1) + post_chunked("/", "12345", 1));
    site.expect_said(peer, "200 got 1234; 200 too large; 200 empty; 200 got 1234; 200 too large");
}

TEST_P(Bodies, ReadersThrow) {
    app.post("/", [&](Response& response, Request&) {
        app.on_data(response, [](const BodyPiece&) { throw std::runtime_error("reader"); });
    });
    Peer peer = site.send(post("/", "abc") + get("/"));
    const auto turn = [&] {
        try {
            return site.turn();
        } catch (const std::runtime_error&) {
            return true;
        }
    };
    network.settle_until(turn, [&] { return peer.said().ends_with("end"); });
    EXPECT_EQ(peer.said(), "500 Internal Server Error; end");
}

TEST_P(Bodies, ExpectationsAreMet) {
    add_echo(app);
    Peer peer =
        site.send(request("POST", "/echo", "Content-Length: 3\r\nExpect: 100-continue\r\n"));
    site.expect_said(peer, "100");
    peer->send("abc" + post("/echo", "d", "Expect: 100-continue\r\n"));
    site.expect_said(peer, "100; 200 abc; 100; 200 d");
}

TEST_P(Bodies, NoInterimAnswerInTheMidstOfAnother) {
    std::optional<Response> open;
    app.get("/first", [&](Response& response, Request&) { open = response; });
    add_echo(app);
    Peer peer = site.send(get("/first") + post("/echo", "abc", "Expect: 100-continue\r\n"));
    ASSERT_TRUE(site.until([&] { return open.has_value(); }));
    site.settle();
    EXPECT_EQ(peer.said(), "");
    site.loop.post([&] { open->end("first"); });
    site.expect_said(peer, "200 first; 200 abc");
}

TEST_P(Bodies, BrokenOnesAreAnswered) {
    std::string trace;
    app.post("/unread", [&](Response& response, Request&) {
        app.on_aborted(response, [&] { trace += "aborted "; });
    });
    app.post("/answered", [&](Response& response, Request&) { response.end("early"); });
    app.post("/begun", [&](Response& response, Request&) {
        response.write("begun");
        app.on_aborted(response, [&] { trace += "begun-aborted "; });
    });
    const std::string fields = "Transfer-Encoding: chunked\r\n";
    Peer unread = site.send(request("POST", "/unread", fields, "3\r\nabc\r\nxyz\r\n"));
    site.expect_said(unread, "400 malformed chunk size; end");
    // The request has had its answer: a second one would belong to nobody.
    Peer answered = site.send(request("POST", "/answered", fields, "3\r\nabc\r\nxyz\r\n"));
    site.expect_said(answered, "200 early; end");
    Peer begun = site.send(request("POST", "/begun", fields, "3\r\nabc\r\nxyz\r\n"));
    EXPECT_TRUE(site.until([&] { return begun->has_ended() || begun->was_reset(); }));
    EXPECT_EQ(trace, "aborted begun-aborted ");
    EXPECT_EQ(app.stats().rejected, 3u);
}

TEST_P(Bodies, ABrokenOneOfAHeadRequestHasNoBodyInItsAnswer) {
    app.any("/", [](Response&, Request&) {});
    Peer peer = site.send(request("HEAD", "/", "Transfer-Encoding: chunked\r\n", "xyz"));
    peer.asks({"HEAD"});
    site.expect_said(peer, "400; end");
    EXPECT_EQ(peer.answers().error, "");
}

TEST_P(Bodies, ABrokenOneBehindAnUnansweredRequest) {
    std::optional<Response> open;
    int aborted = 0;
    app.get("/first", [&](Response& response, Request&) { open = response; });
    app.post("/",
             [&](Response& response, Request&) { app.on_aborted(response, [&] { ++aborted; }); });
    Peer peer =
        site.send(get("/first") + request("POST", "/", "Transfer-Encoding: chunked\r\n", "xyz"));
    ASSERT_TRUE(site.until([&] { return aborted == 1; }));
    EXPECT_EQ(peer.said(), "");
    site.loop.post([&] { open->end("first"); });
    site.expect_said(peer, "200 first; 400 malformed chunk size; end");
}

TEST_P(Bodies, CutOnesAbortTheirExchange) {
    int aborted = 0, pieces = 0;
    app.post("/", [&](Response& response, Request&) {
        app.on_aborted(response, [&] { ++aborted; });
        app.on_data(response, [&](const BodyPiece& piece) {
            ++pieces;
            EXPECT_FALSE(piece.is_last);
        });
    });
    Peer peer = site.send(request("POST", "/", "Content-Length: 10\r\n", "abc"));
    ASSERT_TRUE(site.until([&] { return pieces == 1; }));
    peer->half_close();
    site.expect_all_gone();
    EXPECT_EQ(aborted, 1);
}

TEST_P(Bodies, CutAfterTheAnswerLeaveTheAnswerWhole) {
    const std::string large = pattern(1'000'000);
    app.post("/", [&](Response& response, Request&) { response.end(large); });
    Peer peer = site.connect();
    peer->read_automatically(false);
    peer->send(request("POST", "/", "Content-Length: 10\r\n", "abc"));
    ASSERT_TRUE(site.until([&] { return app.stats().requests == 1; }));
    peer->half_close();
    site.settle();
    peer->read_automatically(true);
    site.expect_said(peer, "200 " + large + "; end");
}

}  // namespace
}  // namespace millrace::scenarios
