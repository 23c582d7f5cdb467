// Requests and answers on connections that live on.
#include "tests/scenarios/scenario.h"

#include <stdexcept>

namespace millrace::scenarios {
namespace {

class Basics : public OnBoth {
  protected:
    Site site{network};
    App& app = site.app;

    void answer(std::string_view path, std::string text) {
        app.get(path, [text](Response& response, Request&) { response.end(text); });
    }
};

MILLRACE_ON_BOTH(Basics);

TEST_P(Basics, Hello) {
    app.get("/hello/:name", [](Response& response, Request& request) {
        response.header("content-type", "text/plain").end(*request.parameter("name"));
    });
    Peer peer = site.send(get("/hello/world"));
    site.expect_said(peer, "200 world");
    const testing::Answer answer = peer.answers().answers.at(0);
    EXPECT_EQ(answer.reason, "OK");
    EXPECT_EQ(answer.field("content-type"), "text/plain");
    EXPECT_EQ(answer.field("content-length"), "5");
    EXPECT_EQ(answer.field("date").size(), 29u);
    EXPECT_EQ(answer.count("connection"), 0u);
}

TEST_P(Basics, KeepAlive) {
    answer("/", "a");
    Peer peer = site.connect();
    std::string expected;
    for (int count = 0; count < 5; ++count) {
        peer->send(get("/"));
        expected += expected.empty() ? "200 a" : "; 200 a";
        site.expect_said(peer, expected);
    }
    EXPECT_EQ(app.stats().accepted, 1u);
    EXPECT_EQ(app.stats().requests, 5u);
}

TEST_P(Basics, ManyClientsAtOnce) {
    app.get("/:id", [](Response& response, Request& request) {
        response.end(*request.parameter(size_t{0}));
    });
    std::vector<Peer> peers;
    for (int id = 0; id < 200; ++id)
        peers.push_back(site.send(get("/" + std::to_string(id))));
    for (int id = 0; id < 200; ++id)
        site.expect_said(peers[static_cast<size_t>(id)], "200 " + std::to_string(id));
    EXPECT_EQ(site.loop.stats().connections, 200u);
}

TEST_P(Basics, RequestsThatComeByteByByte) {
    answer("/a", "A");
    Peer peer = site.connect();
    for (const char byte : get("/a", "X-Long: value\r\n") + get("/a")) {
        peer->send({&byte, 1});
        site.turn();
    }
    site.expect_said(peer, "200 A; 200 A");
}

TEST_P(Basics, PipelinedRequestsAreAnsweredInOrder) {
    app.get("/:id",
            [](Response& response, Request& request) { response.end(*request.parameter("id")); });
    std::string wire, expected;
    for (int id = 0; id < 100; ++id) {
        wire += get("/" + std::to_string(id));
        expected += (id ? "; 200 " : "200 ") + std::to_string(id);
    }
    Peer peer = site.send(wire);
    site.expect_said(peer, expected);
}

TEST_P(Basics, OneWriteForAllAnswersOfATurn) {
    answer("/", "a");
    Peer peer = site.connect();
    site.settle();
    const uint64_t sends = site.loop.stats().sends;
    peer->send(get("/") + get("/") + get("/") + get("/"));
    site.expect_said(peer, "200 a; 200 a; 200 a; 200 a");
    EXPECT_EQ(site.loop.stats().sends, sends + 1);
}

TEST_P(Basics, AnswersOutOfOrderLeaveInOrder) {
    std::vector<Response> open;
    app.get("/:id", [&](Response& response, Request&) { open.push_back(response); });
    Peer peer = site.send(get("/0") + get("/1") + get("/2") + get("/3"));
    ASSERT_TRUE(site.until([&] { return open.size() == 4; }));
    const auto end_later = [&](size_t index) {
        site.loop.post([&, index] { open[index].end(std::to_string(index)); });
        site.settle();
    };
    end_later(2);
    end_later(3);
    EXPECT_EQ(peer.said(), "");
    end_later(0);
    site.expect_said(peer, "200 0");
    end_later(1);
    site.expect_said(peer, "200 0; 200 1; 200 2; 200 3");
}

TEST_P(Basics, SmallAndLargeAnswersOfOneTurn) {
    const std::string large = pattern(40'000);
    answer("/small", "s");
    answer("/large", large);
    Peer peer = site.send(get("/small") + get("/large") + get("/small") + get("/small") +
                          get("/large") + get("/small"));
    site.expect_said(peer, "200 s; 200 " + large + "; 200 s; 200 s; 200 " + large + "; 200 s");
}

TEST_P(Basics, MoreThanTheTurnsOutputHolds) {
    const std::string text = pattern(15'000);
    answer("/", text);
    std::string wire, expected;
    for (int count = 0; count < 30; ++count) {
        wire += get("/");
        expected += (count ? "; 200 " : "200 ") + text;
    }
    Peer first = site.send(wire), second = site.send(wire);
    site.expect_said(first, expected);
    site.expect_said(second, expected);
}

TEST_P(Basics, PiecesOfManyAnswersInterleave) {
    // Each piece is a segment of its own in the turn's output: more of them than one write takes.
    std::vector<Response> open;
    app.get("/", [&](Response& response, Request&) { open.push_back(response); });
    Peer first = site.send(get("/")), second = site.send(get("/"));
    ASSERT_TRUE(site.until([&] { return open.size() == 2; }));
    const std::string large = pattern(40'000);
    std::string expected;
    site.loop.post([&] {
        for (int count = 0; count < 200; ++count) {
            expected += std::to_string(count) + ".";
            for (Response& one : open)
                one.write(std::to_string(count) + ".");
        }
        for (Response& one : open)
            one.end(large);
    });
    site.settle();
    site.expect_said(first, "200 " + expected + large);
    site.expect_said(second, "200 " + expected + large);
}

TEST_P(Basics, ReadingStopsAtThePipelineLimit) {
    std::vector<Response> open;
    Site small{network, {.limits = {.pipeline_max = 3}}};
    small.app.get("/", [&](Response& response, Request&) { open.push_back(response); });
    std::string wire;
    for (int count = 0; count < 10; ++count)
        wire += get("/");
    Peer peer = small.send(wire);
    ASSERT_TRUE(small.until([&] { return open.size() == 3; }));
    small.settle();
    EXPECT_EQ(open.size(), 3u);
    for (size_t index = 0; index < 10; ++index) {
        ASSERT_TRUE(small.until([&] { return open.size() > index; }));
        small.loop.post([&, index] { open[index].end(std::to_string(index)); });
        small.settle();
        EXPECT_EQ(open.size(), std::min<size_t>(index + 4, 10));
    }
    small.expect_said(peer, "200 0; 200 1; 200 2; 200 3; 200 4; 200 5; 200 6; 200 7; 200 8; 200 9");
}

TEST_P(Basics, UnknownPathsAndMethods) {
    answer("/a", "a");
    app.post("/a", [](Response& response, Request&) { response.end("posted"); });
    Peer peer = site.send(get("/b") + request("DELETE", "/a") + get("/a"));
    site.expect_said(peer, "404 Not Found; 405 Method Not Allowed; 200 a");
    EXPECT_EQ(peer.answers().answers[1].field("allow"), "GET, HEAD, POST");
}

TEST_P(Basics, AllowNamesHeadOnce) {
    answer("/a", "a");
    app.head("/a", [](Response& response, Request&) { response.end(); });
    Peer peer = site.send(request("DELETE", "/a"));
    site.expect_said(peer, "405 Method Not Allowed");
    EXPECT_EQ(peer.answers().answers[0].field("allow"), "GET, HEAD");
}

TEST_P(Basics, HeadOfARouteThatYieldedIsNotFound) {
    app.get("/a", [](Response&, Request& request) { request.yield(); });
    Peer peer = site.send(request("HEAD", "/a") + get("/a"));
    peer.asks({"HEAD"});
    site.expect_said(peer, "404; 404 Not Found");
}

TEST_P(Basics, AllowDoesNotNameConnect) {
    answer("/a", "a");
    app.on("CONNECT", "/*", [](Response& response, Request&) { response.end(); });
    Peer peer = site.send("DELETE /a HTTP/1.1\r\nHost: x\r\n\r\n");
    site.expect_said(peer, "405 Method Not Allowed");
    EXPECT_NE(peer->received().find("Allow: GET, HEAD\r\n"), std::string::npos);
}

TEST_P(Basics, MethodNotAllowedCanBeSwitchedOff) {
    Site plain{network, {.limits = {}, .head_from_get = false, .method_not_allowed = false}};
    plain.app.get("/a", [](Response& response, Request&) { response.end(); });
    Peer peer = plain.send(request("DELETE", "/a") + request("HEAD", "/a") + get("/a"));
    peer.asks({"DELETE", "HEAD"});
    plain.expect_said(peer, "404 Not Found; 404; 200");
}

TEST_P(Basics, YieldedRequestsGoToTheNextRoute) {
    std::string trace;
    app.get("/a/b", [&](Response&, Request& request) {
        trace += "text ";
        request.yield();
    });
    app.get("/a/:x", [&](Response&, Request& request) {
        trace += "parameter=" + std::string{*request.parameter("x")} + " ";
        request.yield();
    });
    app.any("/*", [&](Response& response, Request& request) {
        trace += "any ";
        EXPECT_EQ(request.parameter("x"), std::nullopt);
        response.end("last");
    });
    Peer peer = site.send(get("/a/b"));
    site.expect_said(peer, "200 last");
    EXPECT_EQ(trace, "text parameter=b any ");
}

TEST_P(Basics, AnAnsweredRequestDoesNotYield) {
    app.get("/a", [&](Response& response, Request& request) {
        response.end("first");
        request.yield();
    });
    answer("/*", "second");
    Peer peer = site.send(get("/a"));
    site.expect_said(peer, "200 first");
}

TEST_P(Basics, HandlersThrow) {
    app.get("/throw", [](Response&, Request&) { throw std::runtime_error("once"); });
    app.get("/late", [](Response& response, Request&) {
        response.write("begun");
        throw std::runtime_error("late");
    });
    answer("/a", "a");
    Peer bad = site.send(get("/throw")), late = site.send(get("/late")),
         good = site.send(get("/a"));
    int thrown = 0;
    const auto turn = [&] {
        try {
            return site.turn();
        } catch (const std::runtime_error&) {
            ++thrown;
            return true;
        }
    };
    EXPECT_TRUE(network.settle_until(turn, [&] {
        return bad.said().ends_with("end") && !late.said().empty() && good.said() == "200 a";
    }));
    EXPECT_EQ(bad.said(), "500 Internal Server Error; end");
    EXPECT_THAT(late.said(), ::testing::AnyOf("end", "reset", "200 begun...; end"));
    EXPECT_GE(thrown, 1);
    // The loop is as good as before.
    Peer again = site.send(get("/a"));
    site.expect_said(again, "200 a");
}

TEST_P(Basics, PostedFunctionsAndTimersThrow) {
    answer("/a", "a");
    int later = 0, thrown = 0;
    site.loop.post([] { throw std::runtime_error("posted"); });
    site.loop.post([&] { ++later; });
    for (int count = 0; count < 3; ++count) {
        site.loop.after(1, [] { throw std::runtime_error("timer"); });
        site.loop.after(1, [&] { ++later; });
    }
    network.advance_ms(100);
    for (int count = 0; count < 10; ++count) {
        try {
            site.turn();
        } catch (const std::runtime_error&) {
            ++thrown;
        }
    }
    EXPECT_EQ(later, 4);
    EXPECT_GE(thrown, 1);
    Peer peer = site.send(get("/a"));
    site.expect_said(peer, "200 a");
}

TEST_P(Basics, RoutesChangeWhileTheyRun) {
    const std::string kept = "a text that is too long for a small string to hold in itself";
    app.get("/once", [&, kept](Response& response, Request&) {
        EXPECT_TRUE(app.remove("GET", "/once"));
        for (int count = 0; count < 100; ++count)
            app.get("/" + std::to_string(count), [](Response& one, Request&) { one.end("new"); });
        response.end(kept);
    });
    app.get("/self", [&, kept](Response& response, Request&) {
        app.get("/self", [](Response& one, Request&) { one.end("second"); });
        response.end(kept);
    });
    Peer peer = site.send(get("/once") + get("/once") + get("/7") + get("/self") + get("/self"));
    site.expect_said(peer,
                     "200 " + kept + "; 404 Not Found; 200 new; 200 " + kept + "; 200 second");
}

TEST_P(Basics, TheRequestAsItsHandlerSeesIt) {
    app.any("/:a/*", [](Response& response, Request& request) {
        EXPECT_EQ(request.method(), "PURGE");
        EXPECT_EQ(request.target(), "/x%20y/z?q=1&r");
        EXPECT_EQ(request.path(), "/x%20y/z");
        EXPECT_EQ(request.query(), "q=1&r");
        EXPECT_TRUE(request.has_query());
        EXPECT_EQ(request.header("x-ONE"), "first");
        EXPECT_EQ(request.header("absent"), std::nullopt);
        EXPECT_EQ(request.parameter(size_t{0}), "x%20y");
        EXPECT_EQ(request.parameter("a"), "x%20y");
        EXPECT_EQ(request.parameter(size_t{9}), std::nullopt);
        EXPECT_EQ(request.minor_version(), 1);
        EXPECT_FALSE(request.has_body());
        EXPECT_EQ(request.content_length(), std::nullopt);
        EXPECT_EQ(request.fields().size(), 3u);
        EXPECT_EQ(response.remote_address(), std::string("\x7f\0\0\1", 4));
        EXPECT_EQ(to_text(response.remote_address()), "127.0.0.1");
        EXPECT_NE(response.remote_port(), 0);
        response.end("seen");
    });
    Peer peer = site.send(request("PURGE", "/x%20y/z?q=1&r", "X-One: first\r\nX-One: second\r\n"));
    site.expect_said(peer, "200 seen");
}

}  // namespace
}  // namespace millrace::scenarios
