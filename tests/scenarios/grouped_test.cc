// What a turn brings for several connections leaves in one system call, where the kernel has
// io_uring. Nobody may notice but by the speed.
#include "core/net/sys.h"
#include "core/testing/fail_at_each_step.h"
#include "tests/scenarios/scenario.h"

#include <algorithm>

namespace millrace::scenarios {
namespace {

using testing::Call;
using testing::fail_at_each_step;
using testing::Faults;

class Grouped : public OnBoth {
  protected:
    // Connected, and seen by the server.
    std::vector<Peer> connect(Site& site, size_t count, ConnectOptions options = {}) {
        std::vector<Peer> peers;
        for (size_t index = 0; index < count; ++index)
            peers.push_back(site.connect(options));
        site.settle();
        return peers;
    }

    // A request of each peer for its own number.
    static void ask(std::vector<Peer>& peers) {
        for (size_t index = 0; index < peers.size(); ++index)
            peers[index]->send(get("/" + std::to_string(index)));
    }

    static void answer_numbers(Site& site) {
        site.app.get("/:number", [](Response& response, Request& request) {
            response.end(*request.parameter("number"));
        });
    }

    static void expect_numbers(Site& site, std::vector<Peer>& peers) {
        for (size_t index = 0; index < peers.size(); ++index)
            site.expect_said(peers[index], "200 " + std::to_string(index));
    }

    // Every request to `path` is answered by whoever takes its response out of `open`.
    void keep_open(Site& site, const std::string& path) {
        site.app.get(path, [this](Response& response, Request&) { open.push_back(response); });
    }

    // A container may forbid io_uring.
    bool has_ring() const { return net::sys::open_send_ring() != nullptr; }

    std::vector<Response> open;
};

MILLRACE_ON_BOTH(Grouped);

TEST_P(Grouped, TheAnswersOfATurnLeaveTogether) {
    Site site{network};
    answer_numbers(site);
    std::vector<Peer> peers = connect(site, 5);
    ask(peers);
    expect_numbers(site, peers);
    const LoopStats stats = site.loop.stats();
    EXPECT_EQ(stats.sends, 5u);
    EXPECT_EQ(stats.grouped_sends, has_ring() ? 5u : 0u);
}

TEST_P(Grouped, OneAloneLeavesByItself) {
    Site site{network};
    answer_numbers(site);
    std::vector<Peer> peers = connect(site, 1);
    ask(peers);
    site.expect_said(peers[0], "200 0");
    EXPECT_EQ(site.loop.stats().sends, 1u);
    EXPECT_EQ(site.loop.stats().grouped_sends, 0u);
}

TEST_P(Grouped, CanBeSwitchedOff) {
    Site site{network, {}, {.io_uring = false}};
    answer_numbers(site);
    std::vector<Peer> peers = connect(site, 5);
    ask(peers);
    expect_numbers(site, peers);
    EXPECT_EQ(site.loop.stats().grouped_sends, 0u);
}

TEST_P(Grouped, IsNotTriedAgainWhereItIsForbidden) {
    Site site{network};
    answer_numbers(site);
    std::vector<Peer> peers = connect(site, 3);
    network.faults().fail({.call = Call::create, .error = EPERM});
    for (int round = 0; round < 2; ++round)
        ask(peers);
    for (size_t index = 0; index < peers.size(); ++index) {
        const std::string one = "200 " + std::to_string(index);
        site.expect_said(peers[index], one + "; " + one);
    }
    EXPECT_EQ(network.faults().triggered(), 1u);
    EXPECT_EQ(site.loop.stats().grouped_sends, 0u);
}

TEST_P(Grouped, MoreConnectionsThanARingHasEntries) {
    Site site{network};
    answer_numbers(site);
    std::vector<Peer> peers = connect(site, 300);
    keep_open(site, "/wait/:number");
    for (Peer& peer : peers)
        peer->send(get("/wait/1"));
    ASSERT_TRUE(site.until([&] { return open.size() == peers.size(); }));
    site.loop.post([&] {
        for (Response& response : open)
            response.end("at once");
    });
    for (Peer& peer : peers)
        site.expect_said(peer, "200 at once");
    EXPECT_EQ(site.loop.stats().grouped_sends, has_ring() ? 300u : 0u);
}

TEST_P(Grouped, SeveralPiecesOfOneConnectionStayInOrder) {
    Site site{network};
    keep_open(site, "/");
    std::vector<Peer> peers = connect(site, 3);
    for (Peer& peer : peers)
        peer->send(get("/") + get("/"));
    ASSERT_TRUE(site.until([&] { return open.size() == 6; }));
    site.loop.post([&] {
        // The first answer of each, then the second of each: no connection's output lies together.
        for (const size_t index : {0u, 2u, 4u, 1u, 3u, 5u})
            open[index].end(std::to_string(index % 2));
    });
    for (Peer& peer : peers)
        site.expect_said(peer, "200 0; 200 1");
}

TEST_P(Grouped, ShortWritesLoseNothing) {
    Site site{network};
    answer_numbers(site);
    std::vector<Peer> peers = connect(site, 5);
    network.faults().short_io_bytes(7);
    ask(peers);
    expect_numbers(site, peers);
}

TEST_P(Grouped, OneThatDoesNotReadHoldsUpNobody) {
    Site site{network};
    const std::string text = pattern(8'000);
    site.app.get("/", [&](Response& response, Request&) { response.end(text); });
    std::vector<Peer> peers = connect(site, 3, {.buffer_bytes = 16'000});
    peers[0]->read_automatically(false);
    const size_t rounds = more_than_buffered() / text.size();
    std::string expected;
    for (size_t round = 0; round < rounds; ++round) {
        expected += (round ? "; 200 " : "200 ") + text;
        peers[0]->send(get("/"));
        if (round >= 20) continue;
        peers[1]->send(get("/"));
        peers[2]->send(get("/"));
        site.settle();
    }
    std::string of_twenty = expected.substr(0, 20 * (6 + text.size()) - 2);
    site.expect_said(peers[1], of_twenty);
    site.expect_said(peers[2], of_twenty);
    peers[0]->read_automatically(true);
    site.expect_said(peers[0], expected);
}

TEST_P(Grouped, OneThatIsGoneHarmsNobody) {
    Site site{network};
    answer_numbers(site);
    std::vector<Peer> peers = connect(site, 4);
    network.faults().fail({.call = Call::send, .step = 2, .error = ECONNRESET});
    ask(peers);
    site.settle();
    size_t answered = 0;
    for (size_t index = 0; index < peers.size(); ++index)
        answered += peers[index].said() == "200 " + std::to_string(index);
    EXPECT_EQ(answered, 3u);
    EXPECT_TRUE(site.until([&] { return site.loop.stats().connections == 3; }));
}

// A handler that is called while a group is looked after may do anything to the others.
TEST_P(Grouped, AWritableHandlerClosesAndAnswersItsNeighbours) {
    Site site{network};
    keep_open(site, "/");
    std::vector<Peer> peers = connect(site, 3);
    for (Peer& peer : peers)
        peer->send(get("/"));
    ASSERT_TRUE(site.until([&] { return open.size() == 3; }));
    site.loop.post([&] {
        for (Response& response : open)
            response.write("a");
        site.app.on_writable(open[0], [&](uint64_t) {
            open[1].close();
            open[2].end("c");
            open[0].end("b");
            return true;
        });
        open[0].notify_writable();
    });
    site.expect_said(peers[0], "200 ab");
    site.expect_said(peers[2], "200 ac");
    EXPECT_TRUE(site.until([&] { return peers[1]->has_ended() || peers[1]->was_reset(); }));
}

TEST(GroupedFaults, AtEachStepHarmNobodyElse) {
    fail_at_each_step([](Faults& faults) {
        const Faults armed = faults;
        faults = {};
        TestNetwork network{Transport::memory, faults};
        Site site{network};
        site.app.get("/", [](Response& response, Request&) { response.end("a"); });
        site.listen();
        std::vector<Peer> peers;
        for (int count = 0; count < 4; ++count)
            peers.emplace_back(network.connect(site.port));
        faults = armed;
        for (Peer& peer : peers)
            peer->send(get("/") + get("/"));
        site.settle();
        for (int round = 0; round < 5; ++round) {
            network.advance_ms(50);
            site.settle();
        }
        const auto whole = static_cast<size_t>(std::count_if(
            peers.begin(), peers.end(), [](Peer& peer) { return peer.said() == "200 a; 200 a"; }));
        EXPECT_GE(whole, faults.triggered() == 0 ? 4u : 3u);
    });
}

}  // namespace
}  // namespace millrace::scenarios
