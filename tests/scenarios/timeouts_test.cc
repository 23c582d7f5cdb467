// Every timeout of HttpLimits: nothing just before it, and the end just after. The wheel may be one
// tick late.
#include "tests/scenarios/scenario.h"

namespace millrace::scenarios {
namespace {

constexpr int64_t tick_ms = 32;

constexpr HttpLimits short_limits{
    .head_timeout_ms = 1'000,
    .body_idle_timeout_ms = 2'000,
    .keep_alive_timeout_ms = 3'000,
    .write_stall_timeout_ms = 4'000,
    .linger_timeout_ms = 500,
};

class Timeouts : public OnBoth {
  protected:
    Site site{network, {.limits = short_limits}};
    App& app = site.app;
    int aborted = 0;

    void SetUp() override {
        app.any("/", [](Response& response, Request&) { response.end("a"); });
        app.any("/hold", [this](Response& response, Request&) {
            open.push_back(response);
            app.on_aborted(response, [this] { ++aborted; });
        });
        app.any("/read", [this](Response& response, Request&) {
            open.push_back(response);
            app.on_aborted(response, [this] { ++aborted; });
            app.on_data(response, [this](const BodyPiece& piece) {
                if (piece.is_last) open.back().end("read");
            });
        });
        app.any("/large", [](Response& response, Request&) { response.end(pattern(100'000)); });
    }

    void pass(int64_t ms) {
        network.advance_ms(ms);
        site.settle();
    }

    // Nothing happens in the last millisecond before the time is over; then the server closes.
    void expect_timeout(Peer& peer, int64_t timeout_ms) {
        site.settle();
        pass(timeout_ms - 1);
        EXPECT_EQ(site.loop.stats().connections, 1u);
        EXPECT_FALSE(peer->has_ended());
        pass(1 + tick_ms);
        EXPECT_TRUE(peer->has_ended() || site.loop.stats().connections == 0);
    }

    std::vector<Response> open;
};

MILLRACE_IN_MEMORY(Timeouts);

TEST_P(Timeouts, OfTheFirstHeadWithNothingSent) {
    Peer peer = site.connect();
    expect_timeout(peer, short_limits.head_timeout_ms);
    EXPECT_EQ(peer.said(), "end");
    EXPECT_EQ(app.stats().timeouts, 1u);
}

TEST_P(Timeouts, OfAHeadThatHasBegun) {
    Peer peer = site.send("GET / HTTP/1.1\r\n");
    expect_timeout(peer, short_limits.head_timeout_ms);
    EXPECT_EQ(peer.said(), "408 the request head took too long; end");
    EXPECT_EQ(app.stats().timeouts, 1u);
}

TEST_P(Timeouts, ProgressDoesNotExtendTheTimeOfAHead) {
    Peer peer = site.send("GET / HTTP/1.1\r\n");
    site.settle();
    for (int count = 0; count < 9; ++count) {
        pass(100);
        peer->send("X: y\r\n");
    }
    expect_timeout(peer, 100);
    EXPECT_EQ(peer.said(), "408 the request head took too long; end");
}

TEST_P(Timeouts, OfALaterHead) {
    Peer peer = site.send(get("/"));
    site.settle();
    pass(2'500);
    peer->send("GET");
    expect_timeout(peer, short_limits.head_timeout_ms);
    EXPECT_EQ(peer.said(), "200 a; 408 the request head took too long; end");
}

TEST_P(Timeouts, AHeadThatComesInTimeIsFine) {
    Peer peer = site.send("GET / HTTP/1.1\r\n");
    site.settle();
    pass(999);
    peer->send("Host: x\r\n\r\n");
    site.settle();
    pass(2'000);
    EXPECT_EQ(peer.said(), "200 a");
}

TEST_P(Timeouts, TimeThatTheEngineDoesNotReadIsNotTheHeads) {
    Site small{network, {.limits = {.pipeline_max = 1, .head_timeout_ms = 1'000}}};
    std::optional<Response> first;
    small.app.get("/", [&](Response& response, Request&) { first = response; });
    Peer peer = small.send(get("/") + "GET /");
    small.settle();
    network.advance_ms(60'000);
    small.settle();
    small.loop.post([&] { first->end("a"); });
    small.settle();
    network.advance_ms(900);
    small.settle();
    EXPECT_EQ(peer.said(), "200 a");
    network.advance_ms(200);
    small.expect_said(peer, "200 a; 408 the request head took too long; end");
}

TEST_P(Timeouts, OfABody) {
    Peer peer = site.send(request("POST", "/hold", "Content-Length: 10\r\n", "abc"));
    expect_timeout(peer, short_limits.body_idle_timeout_ms);
    EXPECT_EQ(aborted, 1);
    EXPECT_EQ(app.stats().timeouts, 1u);
    EXPECT_EQ(app.stats().connections, 0u);
}

TEST_P(Timeouts, EveryReadExtendsTheTimeOfABody) {
    Peer peer = site.send(request("POST", "/read", "Content-Length: 10\r\n"));
    for (int count = 0; count < 9; ++count) {
        site.settle();
        pass(1'900);
        peer->send("x");
    }
    expect_timeout(peer, short_limits.body_idle_timeout_ms);
    EXPECT_EQ(aborted, 1);
}

TEST_P(Timeouts, ABodyThatIsNotReadHasAllTheTime) {
    Peer peer = site.send(request("POST", "/read", "Content-Length: 10\r\n", "abc"));
    site.settle();
    open[0].pause();
    site.settle();
    pass(60'000);
    EXPECT_EQ(aborted, 0);
    open[0].resume();
    expect_timeout(peer, short_limits.body_idle_timeout_ms);
    EXPECT_EQ(aborted, 1);
}

TEST_P(Timeouts, ABodyThatNobodyReadsHasAllTheTime) {
    Peer peer = site.send(post("/hold", pattern(1'000'000)));
    site.settle();
    pass(60'000);
    EXPECT_EQ(aborted, 0);
    // When it is discarded at last, the peer gets its time.
    site.loop.post([&] { open[0].end("late"); });
    site.settle();
    EXPECT_EQ(peer.said(), "200 late");
}

TEST_P(Timeouts, OfADiscardedBody) {
    Peer peer = site.send(request("POST", "/", "Content-Length: 10\r\n", "abc"));
    site.settle();
    EXPECT_EQ(peer.said(), "200 a");
    expect_timeout(peer, short_limits.body_idle_timeout_ms);
    EXPECT_EQ(aborted, 0);
}

TEST_P(Timeouts, OfAnIdleConnection) {
    Peer peer = site.send(get("/"));
    site.settle();
    pass(2'000);
    peer->send(get("/"));
    expect_timeout(peer, short_limits.keep_alive_timeout_ms);
    EXPECT_EQ(peer.said(), "200 a; 200 a; end");
}

TEST_P(Timeouts, AnUnansweredRequestHasAllTheTime) {
    Peer peer = site.send(get("/hold"));
    site.settle();
    pass(600'000);
    EXPECT_EQ(aborted, 0);
    site.loop.post([&] { open[0].end("late"); });
    expect_timeout(peer, short_limits.keep_alive_timeout_ms);
    EXPECT_EQ(peer.said(), "200 late; end");
}

TEST_P(Timeouts, OfAPeerThatDoesNotRead) {
    Peer peer = site.connect({.buffer_bytes = 9'000});
    peer->read_automatically(false);
    peer->send(get("/large"));
    expect_timeout(peer, short_limits.write_stall_timeout_ms);
    EXPECT_EQ(app.stats().timeouts, 1u);
    EXPECT_EQ(app.stats().connections, 0u);
}

TEST_P(Timeouts, SlowReadersHaveAllTheTime) {
    Peer peer = site.connect({.buffer_bytes = 9'000});
    peer->read_automatically(false);
    peer->send(get("/large"));
    // Far longer in all than an idle connection is kept.
    for (int count = 0; count < 15; ++count) {
        site.settle();
        pass(3'900);
        peer->read_some(5'000);
    }
    peer->read_automatically(true);
    site.expect_said(peer, "200 " + pattern(100'000));
    expect_timeout(peer, short_limits.keep_alive_timeout_ms);
}

TEST_P(Timeouts, AStalledPeerAbortsItsExchange) {
    app.get("/stream", [this](Response& response, Request&) {
        app.on_aborted(response, [this] { ++aborted; });
        response.write(pattern(100'000));
    });
    Peer peer = site.connect({.buffer_bytes = 9'000});
    peer->read_automatically(false);
    peer->send(get("/stream"));
    expect_timeout(peer, short_limits.write_stall_timeout_ms);
    EXPECT_EQ(aborted, 1);
}

TEST_P(Timeouts, OfLingering) {
    Peer peer = site.send("nonsense\r\n\r\n");
    site.settle();
    EXPECT_EQ(peer.said(), "400 malformed request line; end");
    // The peer may go on sending, but not for ever.
    for (int count = 0; count < 4; ++count) {
        pass(100);
        peer->send("more");
    }
    site.settle();
    pass(99);
    EXPECT_EQ(app.stats().connections, 1u);
    pass(1 + tick_ms);
    EXPECT_EQ(app.stats().connections, 0u);
    EXPECT_EQ(app.stats().timeouts, 0u);
}

TEST_P(Timeouts, ManyConnectionsEachInItsTime) {
    std::vector<Peer> peers;
    for (int count = 0; count < 50; ++count) {
        peers.push_back(site.send(get("/")));
        site.settle();
        pass(40);
    }
    // The first is 2000 ms old now, the last 40 ms.
    pass(999);
    EXPECT_EQ(app.stats().connections, 50u);
    for (uint64_t left = 50; left-- > 0;) {
        pass(40);
        EXPECT_LE(app.stats().connections, left + 1);
        EXPECT_GE(app.stats().connections, left > 0 ? left - 1 : 0);
    }
    pass(40);
    EXPECT_EQ(app.stats().connections, 0u);
}

TEST_P(Timeouts, ProgramTimers) {
    std::string fired;
    site.loop.after(100, [&] { fired += "b"; });
    site.loop.after(0, [&] { fired += "a"; });
    site.loop.after(200'000, [&] { fired += "c"; });
    site.settle();
    pass(tick_ms);
    EXPECT_EQ(fired, "a");
    pass(99 - tick_ms);
    EXPECT_EQ(fired, "a");
    pass(1 + tick_ms);
    EXPECT_EQ(fired, "ab");
    pass(199'000);
    EXPECT_EQ(fired, "ab");
    pass(1'000);
    EXPECT_EQ(fired, "abc");
}

TEST_P(Timeouts, NothingIsSaidBehindAnAnswerThatCloses) {
    // The answer and the end of the time for the next head come in one turn.
    Peer peer = site.send(get("/hold") + "GET / HT");
    site.settle();
    ASSERT_EQ(open.size(), 1u);
    network.advance_ms(short_limits.head_timeout_ms + tick_ms);
    open.back().header("Connection", "close").end("bye");
    site.settle();
    EXPECT_EQ(peer.said(), "200 bye; end");
    EXPECT_EQ(app.stats().timeouts, 0u);
}

TEST_P(Timeouts, AnIdleLoopGivesMemoryBack) {
    constexpr int many = 64;
    const auto come_and_go = [this](int count) {
        std::vector<Peer> peers;
        for (int index = 0; index < count; ++index)
            peers.push_back(site.send(get("/")));
        site.settle();
        peers.clear();
        site.settle();
    };
    come_and_go(many - 1);
    pass(1'000 + tick_ms);
    EXPECT_EQ(network.memory_releases(), 0u) << "for a few connections it is not worth it";
    come_and_go(1);
    EXPECT_EQ(site.loop.stats().connections, 0u);
    pass(900);
    Peer last = site.send(get("/"));
    site.settle();
    pass(100 + tick_ms);
    EXPECT_EQ(network.memory_releases(), 0u) << "somebody is there again";
    last->reset();
    site.settle();
    pass(999);
    EXPECT_EQ(network.memory_releases(), 0u);
    pass(1 + tick_ms);
    EXPECT_EQ(network.memory_releases(), 1u);
    come_and_go(many - 1);
    pass(1'000 + tick_ms);
    EXPECT_EQ(network.memory_releases(), 1u) << "counted anew";
}

}  // namespace
}  // namespace millrace::scenarios
