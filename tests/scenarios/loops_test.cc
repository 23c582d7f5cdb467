// Several apps on a loop, and several loops in a process.
#include "tests/scenarios/scenario.h"

#include <atomic>
#include <thread>

namespace millrace::scenarios {
namespace {

class Loops : public OnBoth {};

MILLRACE_ON_BOTH(Loops);

TEST_P(Loops, TwoAppsOnOne) {
    Site site{network};
    App second{site.loop};
    site.app.get("/", [](Response& response, Request&) { response.end("first"); });
    second.get("/", [](Response& response, Request&) { response.end("second"); });
    const uint16_t second_port = second.listen({.host = "127.0.0.1"});
    Peer a = site.send(get("/"));
    Peer b{network.connect(second_port)};
    b->send(get("/") + get("/none"));
    site.expect_said(a, "200 first");
    site.expect_said(b, "200 second; 404 Not Found");
    EXPECT_EQ(second.stats().requests, 2u);
    second.close();
    EXPECT_TRUE(site.until([&] { return b->has_ended() || b->was_reset(); }));
    a->send(get("/"));
    site.expect_said(a, "200 first; 200 first");
}

TEST_P(Loops, AnAppThatClosesAnother) {
    Site site{network};
    App second{site.loop};
    std::optional<Response> open;
    int aborted = 0;
    second.get("/", [&](Response& response, Request&) {
        open = response;
        second.on_aborted(response, [&] { ++aborted; });
    });
    site.app.get("/", [&](Response& response, Request&) {
        second.close();
        response.end("closed");
    });
    Peer victim{network.connect(second.listen({.host = "127.0.0.1"}))};
    victim->send(get("/"));
    ASSERT_TRUE(site.until([&] { return open.has_value(); }));
    // Both in one turn.
    victim->send(get("/"));
    Peer peer = site.send(get("/"));
    site.expect_said(peer, "200 closed");
    EXPECT_GE(aborted, 1);
    EXPECT_EQ(second.stats().connections, 0u);
}

TEST_P(Loops, StopBeforeRunCounts) {
    Site site{network};
    site.listen();
    site.loop.stop();
    site.loop.run();
}

TEST_P(Loops, RunEndsWhenNothingIsLeft) {
    Site site{network};
    int fired = 0;
    site.loop.run();
    site.loop.after(0, [&] { ++fired; });
    network.advance_ms(100);
    site.loop.run();
    EXPECT_EQ(fired, 1);
}

TEST_P(Loops, NoTurnInsideATurn) {
    Site site{network};
    site.app.get("/", [&](Response& response, Request&) {
        EXPECT_FALSE(site.loop.turn());
        site.loop.run();
        response.end("a");
    });
    Peer peer = site.send(get("/"));
    site.expect_said(peer, "200 a");
}

// --- Threads, on the kernel's loopback ---------------------------------------------------------

// One server thread of its own, with its own network.
class ServerThread {
  public:
    explicit ServerThread(std::string text) {
        std::atomic<uint16_t> port{0};
        std::atomic<Loop*> loop{nullptr};
        thread_ = std::thread([&port, &loop, text] {
            TestNetwork network{Transport::loopback};
            Site site{network};
            site.app.get("/", [text](Response& response, Request&) { response.end(text); });
            loop = &site.loop;
            port = site.listen();
            site.loop.run();
        });
        while (port == 0)
            std::this_thread::yield();
        port_ = port;
        loop_ = loop;
    }
    ~ServerThread() {
        loop_->stop();
        thread_.join();
    }

    uint16_t port() const { return port_; }
    Loop& loop() { return *loop_; }

  private:
    std::thread thread_;
    uint16_t port_ = 0;
    Loop* loop_ = nullptr;
};

TEST(LoopThreads, TwoLoopsInTwoThreads) {
    TestNetwork network{Transport::loopback};
    ServerThread first{"first"}, second{"second"};
    for (int round = 0; round < 20; ++round) {
        Peer a{network.connect(first.port())}, b{network.connect(second.port())};
        a->send(get("/") + get("/"));
        b->send(get("/"));
        EXPECT_TRUE(network.settle_until(
            [] {}, [&] { return a.said() == "200 first; 200 first" && b.said() == "200 second"; }));
    }
}

TEST(LoopThreads, PostsFromManyThreadsAreAllRun) {
    ServerThread server{"a"};
    constexpr int threads = 4, posts = 2'000;
    std::atomic<int> run{0};
    std::vector<std::thread> posters;
    for (int index = 0; index < threads; ++index)
        posters.emplace_back([&] {
            for (int count = 0; count < posts; ++count)
                server.loop().post([&run] { ++run; });
        });
    for (std::thread& poster : posters)
        poster.join();
    while (run < threads * posts)
        std::this_thread::yield();
    EXPECT_EQ(run, threads * posts);
}

TEST(LoopThreads, EveryPostWakesALoopThatWaits) {
    ServerThread server{"a"};
    // One at a time: each must find the loop asleep or about to sleep, and wake it.
    for (int count = 0; count < 5'000; ++count) {
        std::atomic<bool> has_run{false};
        server.loop().post([&has_run] { has_run = true; });
        if (count % 2) server.loop().wake();
        while (!has_run)
            std::this_thread::yield();
    }
}

}  // namespace
}  // namespace millrace::scenarios
