// Batched delivery: the handler only notes events down, and the batch hook works them off.
#include "tests/scenarios/scenario.h"

#include <map>
#include <memory>

namespace millrace::scenarios {
namespace {

// Notes every event as an embedder would; the views are read when the batch ends, not before.
class Notes final : public ServerHandler {
  public:
    struct Event {
        char kind;  // 'r'equest, 'b'ody, 'a'bort, 'w'ritable
        Response response;
        uint64_t tag = 0;
        std::optional<Request> request;
        BodyPiece piece;
        std::string copy;  // of the path or of the piece, made when the event came
    };

    void on_request(Response response, Request& request, uint32_t route) override {
        EXPECT_EQ(route, 7u);
        response.set_tag(++last_tag);
        events.push_back({'r', response, last_tag, request, {}, std::string{request.path()}});
    }
    BodyUse on_body(Response response, const BodyPiece& piece) override {
        const uint64_t tag = response.tag();
        events.push_back({'b', response, tag, {}, piece, std::string{piece.data}});
        return use;
    }
    void on_aborted(uint64_t tag) override { events.push_back({'a', {}, tag, {}, {}, {}}); }
    void on_writable(Response response) override {
        events.push_back({'w', response, response.tag(), {}, {}, {}});
    }

    std::vector<Event> events;
    uint64_t last_tag = 0;
    BodyUse use = BodyUse::taken;
};

class Batched : public OnBoth {
  protected:
    Batched() { make({}); }

    void make(const Loop::Options& options, HttpLimits limits = {}) {
        server.reset();
        loop.reset();
        loop = std::make_unique<Loop>(options);
        server = std::make_unique<Server>(
            *loop, notes, ServerOptions{.limits = limits, .delivery = Delivery::batched});
        server->add_route("", "/*", 7);
        loop->on_batch([this] { on_batch(); });
        ListenerId id = 0;
        ASSERT_EQ(server->listen({.host = "127.0.0.1"}, id), 0);
        port = static_cast<uint16_t>(server->local_port(id));
    }

    // Checks that all views of the batch still hold what they held, and works the events off.
    void on_batch() {
        ++batches;
        auto events = std::exchange(notes.events, {});
        for (Notes::Event& event : events) {
            if (event.request) {
                EXPECT_EQ(event.request->path(), event.copy);
            }
            EXPECT_EQ(event.piece.data, event.kind == 'b' ? event.copy : "");
            trace += event.kind;
            if (work) work(event);
        }
    }

    Peer send(std::string_view wire, ConnectOptions options = {}) {
        Peer peer{network.connect(port, options)};
        EXPECT_TRUE(peer->is_connected());
        peer->send(wire);
        return peer;
    }
    bool turn() { return loop->turn(); }
    void settle() {
        EXPECT_TRUE(network.settle([&] { return turn(); }));
    }
    bool until(const std::function<bool()>& condition) {
        return network.settle_until([&] { return turn(); }, condition);
    }

    Notes notes;
    std::unique_ptr<Loop> loop;
    std::unique_ptr<Server> server;
    uint16_t port = 0;
    int batches = 0;
    std::string trace;
    std::function<void(Notes::Event&)> work;
};

MILLRACE_ON_BOTH(Batched);

TEST_P(Batched, OneBatchForAllRequestsOfATurn) {
    work = [](Notes::Event& event) { event.response.end(event.copy); };
    std::vector<Peer> peers;
    for (int count = 0; count < 20; ++count)
        peers.push_back(send(""));
    settle();
    batches = 0;
    for (Peer& peer : peers)
        peer->send(get("/1") + get("/2") + get("/3"));
    ASSERT_TRUE(until([&] { return trace.size() == 60; }));
    if (GetParam() == Transport::memory) {
        EXPECT_EQ(batches, 1);
    }
    for (Peer& peer : peers) {
        EXPECT_TRUE(until([&] { return peer.said() == "200 /1; 200 /2; 200 /3"; }));
    }
}

TEST_P(Batched, EventsOfAConnectionComeInOrder) {
    std::string body;
    work = [&](Notes::Event& event) {
        if (event.kind == 'b') body += event.copy;
        if (event.kind == 'b' && event.piece.is_last) event.response.end(std::exchange(body, {}));
        if (event.kind == 'r' && !event.request->has_body()) event.response.end(event.copy);
    };
    Peer peer = send(post("/", "one") + get("/two") + post_chunked("/", "three", 2) + get("/four"));
    EXPECT_TRUE(until([&] { return peer.said() == "200 one; 200 /two; 200 three; 200 /four"; }))
        << peer.said();
    EXPECT_EQ(trace, "rbrrbbbbr");
}

TEST_P(Batched, ManyBatchesInATurnWhenTheArenaIsFull) {
    alignas(64) static char memory[64 * 1024];
    make({.receive_arena = memory});
    std::map<uint64_t, std::string> bodies;
    work = [&](Notes::Event& event) {
        if (event.kind != 'b') return;
        bodies[event.tag] += event.copy;
        if (event.piece.is_last) event.response.end(bodies[event.tag]);
    };
    std::vector<Peer> peers;
    std::vector<std::string> sent;
    for (size_t count = 0; count < 30; ++count) {
        sent.push_back(std::to_string(count) + pattern(45'000));
        peers.push_back(send(post("/", sent.back())));
    }
    settle();
    for (size_t index = 0; index < peers.size(); ++index) {
        const std::string expected = "200 " + sent[index];
        EXPECT_TRUE(until([&] { return peers[index].said() == expected; })) << index;
    }
    EXPECT_GE(batches, 20);
    EXPECT_EQ(server->stats().requests, 30u);
}

TEST_P(Batched, ConnectionsClosedByABatchInTheMidstOfATurn) {
    alignas(64) static char memory[64 * 1024];
    make({.receive_arena = memory});
    std::vector<Response> open;
    uint64_t aborts = 0;
    work = [&](Notes::Event& event) {
        if (event.kind == 'a') ++aborts;
        if (event.kind != 'r') return;
        open.push_back(event.response);
        if (open.size() == 5) server->close();
    };
    std::vector<Peer> peers;
    for (size_t count = 0; count < 10; ++count)
        peers.push_back(send(post("/", pattern(40'000))));
    ASSERT_TRUE(until([&] { return open.size() >= 5; }));
    settle();
    EXPECT_EQ(server->stats().connections, 0u);
    EXPECT_EQ(aborts, server->stats().requests);
    for (Response& one : open)
        EXPECT_FALSE(one.is_open());
}

TEST_P(Batched, HeadsLargerThanTheArenaWas) {
    make({}, {.head_bytes_max = 2 * 1024 * 1024});
    work = [](Notes::Event& event) {
        event.response.end(std::to_string(event.request->header("x")->size()));
    };
    Peer peer = send(get("/", "X: " + std::string(1'500'000, 'x') + "\r\n") + get("/", "X: y\r\n"));
    EXPECT_TRUE(until([&] { return peer.said() == "200 1500000; 200 1"; })) << peer.said();
}

TEST_P(Batched, LimitsThatCannotBeKeptAreRefused) {
    alignas(64) static char memory[64 * 1024];
    Loop small{{.receive_arena = memory}};
    EXPECT_THROW((Server{small, notes, {.limits = {.head_bytes_max = 60 * 1024}}}),
                 std::invalid_argument);
    EXPECT_NO_THROW((Server{small, notes, {.limits = {.head_bytes_max = 47 * 1024}}}));
    EXPECT_THROW((Loop{{.receive_arena = std::span{memory}.first(1000)}}), std::invalid_argument);
    EXPECT_THROW((Server{*loop, notes, {.limits = {.head_bytes_max = 63}}}), std::invalid_argument);
    EXPECT_THROW((Server{*loop, notes, {.limits = {.head_bytes_max = 16 * 1024 * 1024 + 1}}}),
                 std::invalid_argument);
    EXPECT_THROW((Server{*loop, notes, {.limits = {.fields_max = 0}}}), std::invalid_argument);
    EXPECT_THROW((Server{*loop, notes, {.limits = {.fields_max = 65536}}}), std::invalid_argument);
    EXPECT_THROW((Server{*loop, notes, {.limits = {.pipeline_max = 0}}}), std::invalid_argument);
    EXPECT_THROW((Server{*loop, notes, {.limits = {.pipeline_max = 65536}}}),
                 std::invalid_argument);
}

TEST_P(Batched, AbortsComeOnceAndWithTheirTag) {
    std::vector<uint64_t> aborted;
    work = [&](Notes::Event& event) {
        if (event.kind == 'a') aborted.push_back(event.tag);
    };
    Peer peer = send(get("/1") + get("/2") + post("/3", "body"));
    ASSERT_TRUE(until([&] { return notes.last_tag == 3; }));
    settle();
    peer->reset();
    ASSERT_TRUE(until([&] { return server->stats().connections == 0; }));
    settle();
    EXPECT_EQ(aborted, (std::vector<uint64_t>{1, 2, 3}));
    EXPECT_EQ(server->stats().aborted, 3u);
}

TEST_P(Batched, AbortsFromOutsideATurnReachTheHook) {
    std::optional<Response> open;
    int aborts = 0;
    work = [&](Notes::Event& event) {
        if (event.kind == 'r') open = event.response;
        if (event.kind == 'a') ++aborts;
    };
    Peer peer = send(get("/"));
    ASSERT_TRUE(until([&] { return open.has_value(); }));
    settle();
    open->close();
    EXPECT_TRUE(until([&] { return aborts == 1; }));
}

TEST_P(Batched, StaleHandlesReachNobody) {
    std::vector<Response> all;
    work = [&](Notes::Event& event) {
        if (event.kind != 'r') return;
        // Everything that came before is over: its slot may be in use again, by this very request.
        for (Response& stale : all) {
            EXPECT_FALSE(stale.is_open());
            EXPECT_THROW(stale.end("stranger"), Error);
            EXPECT_THROW(stale.write("stranger"), Error);
            EXPECT_THROW(stale.status("500"), Error);
            EXPECT_THROW(stale.set_tag(9), Error);
            EXPECT_THROW(stale.close(), Error);
            EXPECT_THROW(stale.resume(), Error);
        }
        event.response.end(event.copy);
        all.push_back(event.response);
    };
    for (int round = 0; round < 20; ++round) {
        Peer peer = send(get("/a") + get("/b"));
        ASSERT_TRUE(until([&] { return peer.said() == "200 /a; 200 /b"; })) << peer.said();
    }
    EXPECT_EQ(all.size(), 40u);
}

TEST_P(Batched, HandlesAreStaleAsSoonAsTheConnectionIsGone) {
    std::optional<Response> first;
    work = [&](Notes::Event& event) {
        if (event.kind != 'r') return;
        if (!first) {
            first = event.response;
            return;
        }
        EXPECT_FALSE(first->is_open());
        EXPECT_THROW(first->end("stranger"), Error);
        event.response.end("mine");
    };
    Peer gone = send(get("/"));
    ASSERT_TRUE(until([&] { return first.has_value(); }));
    gone->reset();
    ASSERT_TRUE(until([&] { return server->stats().connections == 0; }));
    Peer peer = send(get("/"));
    EXPECT_TRUE(until([&] { return peer.said() == "200 mine"; }));
}

TEST_P(Batched, BodiesGivenBackComeAgainInOrder) {
    const std::string body = pattern(400'000);
    std::string read;
    std::optional<Response> open;
    uint64_t given_back = 0;
    bool wants = false;
    work = [&](Notes::Event& event) {
        if (event.kind == 'r') open = event.response;
        if (event.kind != 'b') return;
        if (!wants) {
            ++given_back;
            event.response.hold_body(event.piece.data, event.piece.is_last);
            return;
        }
        read += event.copy;
        wants = read.size() % 3 != 0;  // sometimes not the next one, though
        if (!event.piece.is_last)
            EXPECT_EQ(event.piece.remaining_bytes, body.size() - read.size());
        else
            event.response.end("read");
    };
    Peer peer = send(post("/", body));
    for (int round = 0; round < 1'000 && read.size() < body.size(); ++round) {
        settle();
        if (!open->is_open()) break;
        wants = true;
        open->release_body();
        turn();
    }
    EXPECT_EQ(read, body);
    EXPECT_TRUE(until([&] { return peer.said() == "200 read"; }));
    EXPECT_GT(given_back, 0u);
}

TEST_P(Batched, BodiesHeldByTheHandlerComeAgainInOrder) {
    const std::string body = pattern(400'000);
    notes.use = BodyUse::hold;
    std::string read;
    std::optional<Response> open;
    work = [&](Notes::Event& event) {
        if (event.kind == 'r') open = event.response;
        if (event.kind != 'b' || notes.use == BodyUse::hold) return;
        read += event.copy;
        if (event.piece.is_last) event.response.end("read");
    };
    Peer peer = send(post("/", body));
    for (int round = 0; round < 100 && read.size() < body.size(); ++round) {
        settle();
        notes.use = round % 3 == 2 ? BodyUse::taken : BodyUse::hold;
        open->release_body();
        turn();
        notes.use = BodyUse::hold;
    }
    EXPECT_EQ(read, body);
    EXPECT_TRUE(until([&] { return peer.said() == "200 read"; }));
}

TEST_P(Batched, WritableSignals) {
    std::optional<Response> open;
    const std::string much = pattern(more_than_buffered());
    int signals = 0;
    work = [&](Notes::Event& event) {
        if (event.kind == 'r') {
            open = event.response;
            EXPECT_FALSE(event.response.write(much));
        }
        if (event.kind == 'w') {
            ++signals;
            event.response.end("z");
        }
    };
    Peer peer = send("", {.buffer_bytes = 10'000});
    peer->read_automatically(false);
    peer->send(get("/"));
    ASSERT_TRUE(until([&] { return open.has_value(); }));
    settle();
    EXPECT_EQ(signals, 0);
    peer->read_automatically(true);
    ASSERT_TRUE(until([&] { return signals == 1; }));
    ASSERT_TRUE(until([&] { return peer->received().ends_with("z\r\n0\r\n\r\n"); }));
    EXPECT_EQ(peer.answers().answers[0].body, much + "z");
}

TEST_P(Batched, HandlersAndHooksThrow) {
    int thrown = 0;
    work = [&](Notes::Event& event) {
        if (event.kind == 'r' && event.copy == "/throw") throw std::runtime_error("hook");
        event.response.end(event.copy);
    };
    Peer bad = send(get("/throw"));
    const auto guarded = [&] {
        try {
            return turn();
        } catch (const std::runtime_error&) {
            ++thrown;
            return true;
        }
    };
    ASSERT_TRUE(network.settle_until(guarded, [&] { return thrown == 1; }));
    Peer good = send(get("/a"));
    EXPECT_TRUE(until([&] { return good.said() == "200 /a"; }));
}

TEST_P(Batched, RoutesByNumber) {
    EXPECT_EQ(server->add_route("GET", "/x", 8), no_route);
    EXPECT_EQ(server->add_route("GET", "/x", 7), 8u);
    EXPECT_EQ(server->remove_route("GET", "/x"), 7u);
    EXPECT_EQ(server->remove_route("GET", "/x"), no_route);
    EXPECT_THROW(server->add_route("GET", "", 1), Error);
    server->add_route("GET", "/a", 7);
    work = [&](Notes::Event& event) {
        // "/a" first, then "/*", then none.
        EXPECT_EQ(server->next_route(*event.request), event.copy == "/a" ? 7u : no_route);
        EXPECT_EQ(server->next_route(*event.request), no_route);
        server->answer_not_found(event.response, *event.request);
    };
    Peer peer = send(get("/a") + get("/b"));
    EXPECT_TRUE(until([&] { return peer.said() == "404 Not Found; 404 Not Found"; }));
}

}  // namespace
}  // namespace millrace::scenarios
