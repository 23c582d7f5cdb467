// System calls that fail, one after the other: nothing crashes or leaks, every exchange ends once,
// and the server still serves the next client.
#include "core/testing/fail_at_each_step.h"
#include "tests/scenarios/scenario.h"

#include <memory>
#include <system_error>

namespace millrace::scenarios {
namespace {

using testing::Call;
using testing::fail_at_each_step;
using testing::Faults;

// One exchange, from its handler to its end.
struct Tracked {
    Response response;
    int aborts = 0;
};

// A server that has one route for each way to answer. Faults begin once it is up.
class Tracking {
  public:
    explicit Tracking(TestNetwork& network)
        : site(network, {.limits = {.linger_timeout_ms = 100}}) {
        App& app = site.app;
        app.any("/small", [this](Response& response, Request&) {
            track(response);
            response.end("small");
        });
        app.any("/large", [this](Response& response, Request&) {
            track(response);
            response.end(pattern(50'000));
        });
        app.any("/stream", [this](Response& response, Request&) {
            track(response);
            response.write("piece");
            response.write(pattern(30'000));
            site.loop.after(50, [response]() mutable {
                if (response.is_open()) response.end("last");
            });
        });
        app.any("/try", [this](Response& response, Request&) {
            track(response);
            const auto go_on = [response, body = pattern(60'000)](uint64_t offset) mutable {
                return response.try_end(std::string_view{body}.substr(offset), body.size()).done;
            };
            auto first = go_on;
            if (!first(0)) site.app.on_writable(response, go_on);
        });
        app.any("/echo", [this](Response& response, Request&) {
            track(response);
            site.app.collect_body(response, 1'000'000,
                                  [response](auto body) mutable { response.end(*body); });
        });
        app.any("/late", [this](Response& response, Request&) {
            track(response);
            site.loop.after(20, [response]() mutable {
                if (response.is_open()) response.end("late", Close::yes);
            });
        });
    }

    void track(Response response) {
        exchanges.push_back(std::make_unique<Tracked>(Tracked{response}));
        site.app.on_aborted(response, [one = exchanges.back().get()] { ++one->aborts; });
    }

    void settle() {
        for (int round = 0; round < 5; ++round) {
            site.settle();
            site.network.advance_ms(50);
        }
        site.settle();
    }

    // Lets time go by until the peer has heard `expected`.
    std::string said_in_time(Peer& peer, std::string_view expected, int64_t step_ms) {
        constexpr int rounds_max = 100'000;
        for (int round = 0; round < rounds_max; ++round) {
            if (peer->received().size() + 8 >= expected.size() && peer.said() == expected) break;
            site.network.advance_ms(step_ms);
            site.turn();
        }
        return peer.said();
    }

    // What must hold whatever went wrong before.
    void expect_all_well() {
        Peer newcomer = site.send(get("/small"));
        site.expect_said(newcomer, "200 small");
        site.app.close();
        settle();
        for (const auto& one : exchanges) {
            EXPECT_FALSE(one->response.is_open());
            EXPECT_LE(one->aborts, 1);
        }
        EXPECT_EQ(site.app.stats().connections, 0u);
        uint64_t aborts = 0;
        for (const auto& one : exchanges)
            aborts += static_cast<uint64_t>(one->aborts);
        EXPECT_EQ(aborts, site.app.stats().aborted);
    }

    std::vector<std::unique_ptr<Tracked>> exchanges;
    Site site;
};

struct Story {
    std::string wire;
    std::string said;
};

const std::vector<Story>& stories() {
    static const std::vector<Story> all{
        {get("/small") + get("/small"), "200 small; 200 small"},
        {get("/large") + get("/small"), "200 " + pattern(50'000) + "; 200 small"},
        {get("/stream") + get("/small"), "200 piece" + pattern(30'000) + "last; 200 small"},
        {get("/try") + get("/small"), "200 " + pattern(60'000) + "; 200 small"},
        {post("/echo", pattern(40'000)) + post_chunked("/echo", "abc", 1),
         "200 " + pattern(40'000) + "; 200 abc"},
        {post("/small", pattern(40'000)) + get("/small"), "200 small; 200 small"},
        {get("/late") + get("/small"), "200 late; end"},
        {get("/small") + "broken\r\n\r\n", "200 small; 400 malformed request line; end"},
    };
    return all;
}

class FaultsAtEachStep : public ::testing::TestWithParam<size_t> {};

INSTANTIATE_TEST_SUITE_P(Stories, FaultsAtEachStep, ::testing::Range<size_t>(0, stories().size()));

TEST_P(FaultsAtEachStep, NeverHarmTheServer) {
    const Story& story = stories()[GetParam()];
    fail_at_each_step([&](Faults& faults) {
        const Faults armed = faults;
        faults = {};
        TestNetwork network{Transport::memory, faults};
        Tracking tracking{network};
        tracking.site.listen();
        faults = armed;
        Peer peer{network.connect(tracking.site.port, {.buffer_bytes = 8'000})};
        peer->send(story.wire);
        tracking.settle();
        if (faults.triggered() == 0) {
            EXPECT_EQ(peer.said(), story.said);
        } else {
            EXPECT_EQ(peer.answers().error, "");
        }
        // A fault that was not met by now must not meet the newcomer.
        if (faults.triggered() == 0) faults = {};
        tracking.expect_all_well();
    });
}

TEST(FaultsInSetUp, FailCleanly) {
    fail_at_each_step(
        [](Faults& faults) {
            TestNetwork network{Transport::memory, faults};
            try {
                Site site{network};
                site.app.get("/", [](Response& response, Request&) { response.end("a"); });
                Peer peer{[&] {
                    const uint16_t port = site.app.listen({.host = "127.0.0.1"});
                    EXPECT_GT(port, 1024);
                    EXPECT_LT(port, 65535);
                    return network.connect(port);
                }()};
                EXPECT_TRUE(peer->is_connected());
            } catch (const std::system_error& error) {
                EXPECT_EQ(faults.triggered(), 1u) << error.what();
            }
            EXPECT_EQ(network.open_descriptors(), 0u);
        },
        {EMFILE, ENOMEM, EACCES});
}

class FaultsOnBoth : public OnBoth {};

MILLRACE_ON_BOTH(FaultsOnBoth);

TEST_P(FaultsOnBoth, ShortReadsAndWritesChangeNothing) {
    for (const size_t bytes : {1u, 2u, 7u, 1000u}) {
        for (const Story& story : stories()) {
            if (bytes < 1000 && story.said.size() > 1000) continue;
            Tracking tracking{network};
            tracking.site.listen();
            network.faults().short_io_bytes(bytes);
            Peer peer{network.connect(tracking.site.port)};
            peer->send(story.wire);
            EXPECT_EQ(tracking.said_in_time(peer, story.said, 1), story.said)
                << story.said.substr(0, 100) << " in steps of " << bytes;
            network.faults() = {};
            tracking.expect_all_well();
        }
    }
}

TEST_P(FaultsOnBoth, AcceptRunsOutOfDescriptors) {
    for (const int error : {EMFILE, ENFILE, ENOMEM, ENOBUFS, ECONNABORTED, EPROTO}) {
        Tracking tracking{network};
        tracking.site.listen();
        network.faults().fail({.call = Call::accept, .count = 3, .error = error});
        Peer peer = tracking.site.send(get("/small"));
        EXPECT_EQ(tracking.said_in_time(peer, "200 small", 10), "200 small")
            << strerrorname_np(error);
        network.faults() = {};
        tracking.expect_all_well();
    }
}

TEST_P(FaultsOnBoth, WhatIsWrittenToABrokenConnectionReachesNobody) {
    Site site{network};
    std::vector<Response> open;
    site.app.get("/", [&](Response& response, Request&) { open.push_back(response); });
    Peer broken = site.send(get("/"));
    ASSERT_TRUE(site.until([&] { return open.size() == 1; }));
    Peer whole = site.send(get("/"));
    ASSERT_TRUE(site.until([&] { return open.size() == 2; }));
    const std::string piece = pattern(10'000);
    std::string expected = "200 ";
    site.loop.post([&] {
        network.faults().fail({.call = Call::send, .error = ECONNRESET});
        open[0].write(pattern(50'000));  // finds out
        // More than the turn's output holds: it is written out in between.
        for (int count = 0; count < 60; ++count) {
            open[0].write("for nobody");
            open[1].write(piece);
            expected += piece;
        }
        open[1].end("last");
    });
    site.settle();
    site.expect_said(whole, expected + "last");
    EXPECT_FALSE(open[0].is_open());
    EXPECT_TRUE(site.until([&] { return broken->has_ended() || broken->was_reset(); }));
}

TEST_P(FaultsOnBoth, EveryWriteFailsForAWhile) {
    for (const int error : {ECONNRESET, EPIPE, ENOMEM, ETIMEDOUT}) {
        Tracking tracking{network};
        tracking.site.listen();
        network.faults().fail({.call = Call::send, .count = 20, .error = error});
        std::vector<Peer> peers;
        for (const Story& story : stories())
            peers.push_back(tracking.site.send(story.wire));
        tracking.settle();
        network.faults() = {};
        tracking.expect_all_well();
    }
}

}  // namespace
}  // namespace millrace::scenarios
