// How connections end: by agreement, by mistake, from inside callbacks, and in the midst of things.
#include "tests/scenarios/scenario.h"

#include <array>

namespace millrace::scenarios {
namespace {

class Endings : public OnBoth {
  protected:
    Site site{network};
    App& app = site.app;
    int aborted = 0;

    void answer(std::string_view path, std::string text) {
        app.get(path, [text](Response& response, Request&) { response.end(text); });
    }
    void count_aborts(Response response) {
        app.on_aborted(response, [this] { ++aborted; });
    }
};

MILLRACE_ON_BOTH(Endings);

TEST_P(Endings, CloseIsHonouredAndNothingBehindItProcessed) {
    answer("/", "a");
    Peer peer = site.send(get("/") + get("/", "Connection: close\r\n") + get("/") + get("/"));
    site.expect_said(peer, "200 a; 200 a; end");
    EXPECT_EQ(app.stats().requests, 2u);
    EXPECT_EQ(peer.answers().answers[1].field("connection"), "close");
}

TEST_P(Endings, TheServerCloses) {
    app.get("/argument", [](Response& response, Request&) { response.end("a", Close::yes); });
    app.get("/field",
            [](Response& response, Request&) { response.header("Connection", "close").end("b"); });
    app.get("/empty",
            [](Response& response, Request&) { response.end_without_body({}, Close::yes); });
    for (const char* path : {"/argument", "/field", "/empty"}) {
        Peer peer = site.send(get(path) + get(path));
        EXPECT_TRUE(site.until([&] { return peer->has_ended(); }));
        ASSERT_EQ(peer.answers().answers.size(), 1u) << path;
        EXPECT_EQ(peer.answers().answers[0].count("connection"), 1u);
        EXPECT_EQ(peer.answers().answers[0].field("connection"), "close");
        peer->close();
    }
    site.expect_all_gone();
}

TEST_P(Endings, LaterRequestsOfAClosedConnectionAreAborted) {
    std::vector<Response> open;
    app.get("/:id", [&](Response& response, Request&) {
        open.push_back(response);
        count_aborts(response);
    });
    Peer peer = site.send(get("/0") + get("/1") + get("/2"));
    ASSERT_TRUE(site.until([&] { return open.size() == 3; }));
    site.loop.post([&] {
        open[2].end("never heard");
        open[0].end("last", Close::yes);
    });
    site.expect_said(peer, "200 last; end");
    EXPECT_EQ(aborted, 1);
    EXPECT_FALSE(open[1].is_open());
}

TEST_P(Endings, ErrorsAreHeardInWholeByWhoSentMore) {
    const std::string more = pattern(1'000'000);
    for (const std::string& wire :
         {"GET / HTTP/3.0\r\n\r\n" + more, "G\x01T / HTTP/1.1\r\n\r\n" + more,
          get("/", "X: " + std::string(20'000, 'x') + "\r\n") + more,
          request("POST", "/", "Content-Length: 1\r\nContent-Length: 2\r\n", more)}) {
        Peer peer = site.send(wire);
        EXPECT_TRUE(site.until([&] { return peer->has_ended() && peer->unsent_bytes() == 0; }));
        EXPECT_FALSE(peer->was_reset());
        EXPECT_EQ(peer.answers().final_count(), 1u) << peer.said();
        EXPECT_GE(peer.answers().answers[0].status, 400);
        peer->close();
    }
    EXPECT_EQ(app.stats().rejected, 4u);
    site.expect_all_gone();
}

TEST_P(Endings, ErrorsComeBehindTheAnswersBefore) {
    std::optional<Response> open;
    app.get("/", [&](Response& response, Request&) { open = response; });
    Peer peer = site.send(get("/") + "nonsense\r\n\r\n");
    ASSERT_TRUE(site.until([&] { return open && app.stats().rejected == 1; }));
    EXPECT_EQ(peer.said(), "");
    site.loop.post([&] { open->end("first"); });
    site.expect_said(peer, "200 first; 400 malformed request line; end");
}

TEST_P(Endings, HalfClosedClientsAreAnswered) {
    std::vector<Response> open;
    answer("/now", "now");
    app.get("/later", [&](Response& response, Request&) { open.push_back(response); });
    Peer peer = site.send(get("/now") + get("/later") + get("/later") + get("/now"));
    peer->half_close();
    ASSERT_TRUE(site.until([&] { return open.size() == 2; }));
    site.settle();
    EXPECT_EQ(peer.said(), "200 now");
    site.loop.post([&] { open[1].end("two"); });
    site.settle();
    site.loop.post([&] { open[0].end("one"); });
    site.expect_said(peer, "200 now; 200 one; 200 two; 200 now; end");
    site.expect_all_gone();
    EXPECT_EQ(app.stats().aborted, 0u);
}

TEST_P(Endings, HalfClosedBeyondThePipelineLimit) {
    std::vector<Response> open;
    Site small{network, {.limits = {.pipeline_max = 1}}};
    small.app.get("/", [&](Response& response, Request&) { open.push_back(response); });
    Peer peer = small.send(get("/") + get("/") + get("/"));
    peer->half_close();
    for (size_t index = 0; index < 3; ++index) {
        ASSERT_TRUE(small.until([&] { return open.size() == index + 1; }));
        small.settle();
        small.loop.post([&, index] { open[index].end("x"); });
    }
    small.expect_said(peer, "200 x; 200 x; 200 x; end");
    small.expect_all_gone();
}

TEST_P(Endings, HalfClosedInTheMidstOfAHead) {
    Peer peer = site.send("GET / HTT");
    peer->half_close();
    site.expect_said(peer, "end");
    site.expect_all_gone();
}

TEST_P(Endings, HalfClosedWithAStrandedHeadBehind) {
    std::optional<Response> open;
    app.get("/", [&](Response& response, Request&) { open = response; });
    Peer peer = site.send(get("/") + "GET / HTT");
    peer->half_close();
    ASSERT_TRUE(site.until([&] { return open.has_value(); }));
    site.settle();
    network.advance_ms(60'000);  // longer than a head may take
    site.settle();
    site.loop.post([&] { open->end("a"); });
    site.expect_said(peer, "200 a; end");
}

// --- Resets ------------------------------------------------------------------------------------

TEST_P(Endings, ResetsAtEveryStage) {
    std::vector<Response> open;
    int pieces = 0;
    app.any("/hold", [&](Response& response, Request&) {
        open.push_back(response);
        count_aborts(response);
    });
    app.any("/read", [&](Response& response, Request&) {
        open.push_back(response);
        count_aborts(response);
        app.on_data(response, [&](const BodyPiece&) { ++pieces; });
    });
    app.any("/begun", [&](Response& response, Request&) {
        open.push_back(response);
        count_aborts(response);
        response.write("begun");
    });
    app.any("/full", [&](Response& response, Request&) {
        open.push_back(response);
        count_aborts(response);
        response.write(pattern(5'000'000));
    });
    const std::string cut = request("POST", "/hold", "Content-Length: 10\r\n", "abc");
    const std::string read = request("POST", "/read", "Content-Length: 10\r\n", "abc");
    const std::array<std::string, 9> stages{
        "",   "GET / HT",    get("/hold"), get("/hold") + get("/hold"),        cut,
        read, get("/begun"), get("/full"), get("/hold") + post("/read", "abc")};
    const std::array<size_t, 9> exchanges{0, 0, 1, 2, 1, 1, 1, 1, 2};
    size_t before = 0;
    for (size_t stage = 0; stage < stages.size(); ++stage) {
        SCOPED_TRACE(stages[stage]);
        Peer peer = site.connect();
        peer->read_automatically(false);
        peer->send(stages[stage]);
        ASSERT_TRUE(site.until([&] { return open.size() == before + exchanges[stage]; }));
        before = open.size();
        site.settle();
        peer->reset();
        site.expect_all_gone();
        EXPECT_EQ(static_cast<size_t>(aborted), before);
    }
    EXPECT_EQ(app.stats().aborted, before);
    for (Response& response : open) {
        EXPECT_FALSE(response.is_open());
        EXPECT_THROW(response.end("x"), Error);
    }
}

TEST_P(Endings, AResetThatOnlyAWriteFinds) {
    // In one turn: the handler answers a peer that is gone by then.
    app.get("/", [&](Response& response, Request&) {
        count_aborts(response);
        response.write(pattern(100'000));
        response.write(pattern(100'000));
        response.write("small");
        site.loop.post([response]() mutable {
            if (response.is_open()) response.end("end");
        });
    });
    answer("/a", "a");
    for (int count = 0; count < 5; ++count) {
        Peer peer = site.send(get("/"));
        peer->close();
        Peer other = site.send(get("/a"));
        site.expect_said(other, "200 a");
    }
    site.settle();
    site.expect_all_gone();
    EXPECT_LE(aborted, 5);
}

// --- From inside callbacks ---------------------------------------------------------------------

enum class What { response_close, app_close, stop_listening };

TEST_P(Endings, ClosesFromInsideEveryCallback) {
    for (const What what : {What::response_close, What::app_close, What::stop_listening}) {
        for (const char* where : {"request", "data", "writable", "post", "timer", "aborted"}) {
            SCOPED_TRACE(std::string{where} + " " + std::to_string(static_cast<int>(what)));
            Site inner{network};
            int aborts = 0, calls = 0;
            const auto strike = [&](Response response) {
                if (calls++ > 0) return;
                if (what == What::app_close) inner.app.close();
                if (what == What::stop_listening) inner.app.stop_listening();
                if (what == What::response_close && response.is_open()) response.close();
            };
            const auto is_here = [where](const char* place) {
                return std::string_view{where} == place;
            };
            inner.app.any("/", [&](Response& response, Request&) {
                inner.app.on_aborted(response, [&, response] {
                    ++aborts;
                    EXPECT_FALSE(response.is_open());
                    if (is_here("aborted")) strike(response);
                });
                if (is_here("request")) strike(response);
                if (is_here("post")) inner.loop.post([&, response] { strike(response); });
                if (is_here("timer")) inner.loop.after(0, [&, response] { strike(response); });
                if (!response.is_open()) return;
                inner.app.on_data(response, [&, response](const BodyPiece&) {
                    if (is_here("data")) strike(response);
                });
                if (!response.is_open()) return;
                if (is_here("writable")) {
                    inner.app.on_writable(response, [&, response](uint64_t) {
                        strike(response);
                        return true;
                    });
                }
            });
            Peer first = inner.send(post("/", "abc") + post("/", "abc") + get("/"));
            Peer second = inner.send(get("/"));
            inner.settle();
            network.advance_ms(100);
            inner.settle();
            if (is_here("aborted")) {
                first->reset();
                ASSERT_TRUE(inner.until([&] { return calls > 0; }));
            }
            inner.settle();
            EXPECT_GE(calls, 1);
            first->reset();
            second->reset();
            inner.expect_all_gone();
            EXPECT_EQ(inner.app.stats().aborted, static_cast<uint64_t>(aborts));
            EXPECT_EQ(inner.app.stats().requests, static_cast<uint64_t>(aborts));
            EXPECT_EQ(network.connect(inner.port).is_connected(), what == What::response_close);
        }
    }
}

TEST_P(Endings, AClosedAppListensAgain) {
    answer("/", "a");
    Peer first = site.send(get("/"));
    site.expect_said(first, "200 a");
    app.close();
    EXPECT_TRUE(site.until([&] { return first->has_ended() || first->was_reset(); }));
    EXPECT_FALSE(site.loop.has_work());
    EXPECT_FALSE(network.connect(site.port).is_connected());
    site.listen();
    Peer second = site.send(get("/"));
    site.expect_said(second, "200 a");
}

TEST_P(Endings, StoppedListenersLetConnectionsGoWithTheirNextAnswer) {
    answer("/", "a");
    Peer peer = site.send(get("/"));
    site.expect_said(peer, "200 a");
    app.stop_listening();
    EXPECT_TRUE(site.loop.has_work());
    peer->send(get("/") + get("/"));
    site.expect_said(peer, "200 a; 200 a; end");
    EXPECT_NE(peer->received().find("Connection: close"), std::string::npos);
    peer->close();
    site.expect_all_gone();
    EXPECT_FALSE(site.loop.has_work());
}

TEST_P(Endings, CloseFromOutsideATurn) {
    std::optional<Response> open;
    app.get("/", [&](Response& response, Request&) {
        open = response;
        count_aborts(response);
    });
    Peer peer = site.send(get("/"));
    ASSERT_TRUE(site.until([&] { return open.has_value(); }));
    open->close();
    EXPECT_EQ(aborted, 1);
    EXPECT_TRUE(site.until([&] { return peer->has_ended() || peer->was_reset(); }));
}

TEST_P(Endings, AnswersFromOutsideATurnAreFlushed) {
    std::optional<Response> open;
    app.get("/", [&](Response& response, Request&) { open = response; });
    Peer peer = site.send(get("/"));
    ASSERT_TRUE(site.until([&] { return open.has_value(); }));
    site.settle();
    open->end("outside");
    site.loop.flush();
    EXPECT_TRUE(network.settle_until([] {}, [&] { return peer.said() == "200 outside"; }));
}

TEST_P(Endings, AnAppThatGoesTakesItsConnectionsAlong) {
    std::optional<Response> open;
    Peer peer = [&] {
        App second{site.loop};
        second.get("/", [&](Response& response, Request&) {
            open = response;
            second.on_aborted(response, [&] { ++aborted; });
        });
        const uint16_t port = second.listen({.host = "127.0.0.1"});
        Peer one{network.connect(port)};
        one->send(get("/"));
        EXPECT_TRUE(site.until([&] { return open.has_value(); }));
        return one;
    }();
    EXPECT_EQ(aborted, 1);
    EXPECT_FALSE(open->is_open());
    EXPECT_TRUE(site.until([&] { return peer->has_ended() || peer->was_reset(); }));
    site.settle();
}

TEST_P(Endings, NoDescriptorIsLeft) {
    const size_t before = network.open_descriptors();
    {
        Site inner{network};
        inner.app.get("/", [](Response&, Request&) {});
        Peer first = inner.send(get("/")), second = inner.send(get("/none")),
             third = inner.send("G");
        inner.expect_said(second, "404 Not Found");
    }
    EXPECT_EQ(network.open_descriptors(), before);
}

}  // namespace
}  // namespace millrace::scenarios
