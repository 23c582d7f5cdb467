#include "bench/load/generator.h"

#include "bench/limit/canned_server.h"
#include "bench/load/idle.h"
#include "bench/load/report.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace millrace::load {
namespace {

const std::string good = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// A server of one thread that hands each connection to `serve`, one after the other.
class ScriptedServer {
  public:
    using Serve = std::function<void(int fd, int connection)>;

    explicit ScriptedServer(Serve serve) : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
        listen(listener_, 16);
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this, serve] {
            for (int count = 0; !stopping_; ++count) {
                const int fd = accept(listener_, nullptr, nullptr);
                if (fd >= 0 && !stopping_) serve(fd, count);
                close(fd);
            }
        });
    }
    ~ScriptedServer() {
        stopping_ = true;
        shutdown(listener_, SHUT_RDWR);
        thread_.join();
        close(listener_);
    }

    uint16_t port() const { return port_; }

  private:
    int listener_;
    uint16_t port_ = 0;
    std::atomic<bool> stopping_ = false;
    std::thread thread_;
};

// Waits for one request. False at the end of the stream.
bool read_request(int fd) {
    std::string seen;
    char byte;
    while (!seen.ends_with("\r\n\r\n")) {
        if (recv(fd, &byte, 1, 0) != 1) return false;
        seen += byte;
    }
    return true;
}

void say(int fd, std::string_view bytes) { send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

Options small_run(uint16_t port) {
    Options options;
    options.port = port;
    options.connections = 1;
    options.requests = 20;
    options.timeout_s = 5;
    return options;
}

Result generate(const Options& options, std::vector<Lane>& lanes) {
    std::string error;
    const auto transport = open_transport(options, total_connections(lanes), error);
    EXPECT_TRUE(transport) << error;
    return transport ? Generator(options, lanes, *transport).run() : Result{};
}

// The canned server in a thread of its own.
class CannedThread {
  public:
    CannedThread()
        : server_(0, limit::CannedServer::Sends::grouped), thread_([this] { server_.run(); }) {}
    ~CannedThread() {
        server_.stop();
        thread_.join();
    }
    uint16_t port() const { return server_.port(); }

  private:
    limit::CannedServer server_;
    std::thread thread_;
};

struct Run {
    std::vector<Lane> lanes;
    Result result;
};

Run run_canned(Options options) {
    const CannedThread server;
    options.port = server.port();
    options.pid = getpid();
    std::string error;
    Run run{.lanes = build_lanes(options, error), .result = {}};
    EXPECT_TRUE(learn_responses(run.lanes, options, error)) << error;
    run.result = generate(options, run.lanes);
    return run;
}

// On each transport.
class Load : public testing::TestWithParam<TransportChoice> {
  protected:
    void SetUp() override {
        // A container may forbid io_uring; then nothing uses it there.
        std::string error;
        if (!open_transport(options(), 1, error)) GTEST_SKIP() << error;
    }

    static Options options(Options wanted = {}) {
        wanted.transport = GetParam();
        return wanted;
    }

    static Result run_against(const ScriptedServer::Serve& serve, Options wanted = small_run(0)) {
        const ScriptedServer server(serve);
        wanted.port = server.port();
        std::string error;
        auto lanes = build_lanes(wanted, error);
        EXPECT_TRUE(learn_responses(lanes, wanted, error)) << error;
        return generate(options(wanted), lanes);
    }
};

INSTANTIATE_TEST_SUITE_P(Transports, Load,
                         testing::Values(TransportChoice::epoll, TransportChoice::io_uring),
                         [](const auto& chosen) {
                             return chosen.param == TransportChoice::epoll ? "epoll" : "io_uring";
                         });

// Answers well, but the request of the given number on the second connection (the first one serves
// for learning) is answered by `misbehave`.
ScriptedServer::Serve good_until(int number, std::function<void(int fd)> misbehave) {
    return [=](int fd, int connection) {
        for (int i = 0; read_request(fd); ++i) {
            if (connection > 0 && i == number) return misbehave(fd);
            say(fd, good);
        }
    };
}

TEST_P(Load, sends_exactly_the_wanted_number) {
    const auto result = run_against(good_until(-1, [](int) {}));
    EXPECT_EQ(result.completed, 20u);
    EXPECT_EQ(result.errors.total(), 0u);
    EXPECT_EQ(result.in_flight_at_stop, 0u);
}

TEST_P(Load, accepts_responses_in_single_bytes) {
    const auto result = run_against([](int fd, int) {
        while (read_request(fd)) {
            for (const char& byte : good)
                say(fd, {&byte, 1});
        }
    });
    EXPECT_EQ(result.completed, 20u);
    EXPECT_EQ(result.errors.total(), 0u);
}

// More than all buffers of a small ring hold.
TEST_P(Load, reads_large_responses) {
    const std::string body(4 << 20, 'b');
    const std::string large = "HTTP/1.1 200 OK\r\nContent-Length: 4194304\r\n\r\n" + body;
    const auto result = run_against([&](int fd, int) {
        while (read_request(fd))
            say(fd, large);
    });
    EXPECT_EQ(result.completed, 20u);
    EXPECT_EQ(result.errors.total(), 0u);
    EXPECT_EQ(result.bytes_in, 20 * large.size());
}

TEST_P(Load, counts_an_early_close) {
    const auto before_an_answer = run_against(good_until(3, [](int) {}));
    EXPECT_EQ(before_an_answer.errors.of(ErrorKind::disconnect), 1u);
    EXPECT_EQ(before_an_answer.errors.total(), 1u);
    const auto within_one = run_against(good_until(3, [](int fd) { say(fd, good.substr(0, 30)); }));
    EXPECT_EQ(within_one.errors.of(ErrorKind::disconnect), 1u);
}

TEST_P(Load, counts_a_wrong_status) {
    const auto result = run_against(
        good_until(3, [](int fd) { say(fd, "HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nok"); }));
    EXPECT_EQ(result.errors.of(ErrorKind::status), 1u);
    EXPECT_EQ(result.completed, 3u);
}

TEST_P(Load, counts_a_wrong_body) {
    const auto result = run_against(
        good_until(3, [](int fd) { say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"); }));
    EXPECT_EQ(result.errors.of(ErrorKind::body), 1u);
}

TEST_P(Load, counts_a_response_that_nobody_asked_for) {
    const auto result = run_against(good_until(3, [](int fd) { say(fd, good + good); }));
    EXPECT_EQ(result.errors.of(ErrorKind::protocol), 1u);
}

TEST_P(Load, counts_a_silent_server) {
    Options options = small_run(0);
    options.timeout_s = 0.3;
    const auto result = run_against(good_until(3, [](int fd) { read_request(fd); }), options);
    EXPECT_EQ(result.errors.of(ErrorKind::timeout), 1u);
}

TEST(Learning, refuses_a_first_response_with_another_status) {
    const ScriptedServer server([](int fd, int) {
        if (read_request(fd)) say(fd, "HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nok");
    });
    const Options options = small_run(server.port());
    std::string error;
    auto lanes = build_lanes(options, error);
    EXPECT_FALSE(learn_responses(lanes, options, error));
    EXPECT_NE(error.find("status 500"), std::string::npos) << error;
}

TEST_P(Load, measures_a_window_with_either_refill) {
    for (const Refill refill : {Refill::window, Refill::batch}) {
        Options options;
        options.connections = 10;
        options.depth = 5;
        options.refill = refill;
        options.warmup_s = 0.05;
        options.duration_s = 0.2;
        const auto [lanes, result] = run_canned(Load::options(options));
        EXPECT_EQ(result.errors.total(), 0u);
        EXPECT_EQ(result.undrained, 0u);
        EXPECT_GT(result.completed, 0u);
        EXPECT_EQ(result.completed, lanes[0].completed);
        EXPECT_EQ(result.completed, lanes[0].latency.total());
        EXPECT_GE(result.window_ns, 200'000'000);
        EXPECT_GT(result.client_cpu_ns, 0);
        EXPECT_GT(result.server_memory_after.rss_bytes, 0u);
        EXPECT_LE(result.in_flight_at_stop, 50u);
    }
}

TEST_P(Load, keeps_lanes_apart) {
    Options options;
    options.connections = 2;
    options.requests = 400;
    options.more_lanes = {{.name = "other", .path = "/other", .connections = 3, .depth = 4}};
    const auto [lanes, result] = run_canned(Load::options(options));
    ASSERT_EQ(lanes.size(), 2u);
    EXPECT_EQ(lanes[0].completed + lanes[1].completed, 400u);
    EXPECT_GT(lanes[0].latency.total(), 0u);
    EXPECT_GT(lanes[1].latency.total(), 0u);
}

TEST_P(Load, finishes_partial_writes) {
    Options options;
    options.connections = 2;
    options.depth = 8;
    options.requests = 64;
    options.method = "POST";
    options.body.assign(1 << 20, 'a');
    const auto [lanes, result] = run_canned(Load::options(options));
    EXPECT_EQ(result.completed, 64u);
    EXPECT_EQ(result.errors.total(), 0u);
}

TEST_P(Load, fails_without_a_server) {
    Options options = small_run(1);
    std::string error;
    auto lanes = build_lanes(options, error);
    EXPECT_FALSE(learn_responses(lanes, options, error));
    EXPECT_EQ(generate(options, lanes).errors.of(ErrorKind::connect), 1u);
}

TEST(Idle, holds_connections) {
    const CannedThread server;
    Options options;
    options.port = server.port();
    options.pid = getpid();
    options.idle = 50;
    options.hold_s = 0.05;
    std::string error;
    auto lanes = build_lanes(options, error);
    ASSERT_TRUE(learn_responses(lanes, options, error)) << error;
    const auto result = run_idle(options, lanes[0]);
    EXPECT_EQ(result.connections, 50u);
    EXPECT_EQ(result.errors.total(), 0u);
    EXPECT_GT(result.rss_idle_bytes, 0u);
}

TEST(Idle, notices_a_server_that_closes) {
    const ScriptedServer server([](int fd, int) {
        if (read_request(fd)) say(fd, good);
    });
    Options options = small_run(server.port());
    options.idle = 2;
    options.hold_s = 0.1;
    std::string error;
    auto lanes = build_lanes(options, error);
    ASSERT_TRUE(learn_responses(lanes, options, error)) << error;
    EXPECT_EQ(run_idle(options, lanes[0]).errors.of(ErrorKind::disconnect), 2u);
}

TEST(Report, says_what_happened) {
    Options options;
    options.connections = 2;
    options.requests = 100;
    const auto [lanes, result] = run_canned(options);
    options.pid = getpid();
    const std::string json = to_json(options, lanes, result);
    EXPECT_NE(json.find("\"completed\":100"), std::string::npos);
    EXPECT_NE(json.find("\"errors\":{\"total\":0"), std::string::npos);
    EXPECT_NE(json.find("\"server\":{"), std::string::npos);
    EXPECT_NE(to_line(lanes, result).find(" 0 errors"), std::string::npos);
}

}  // namespace
}  // namespace millrace::load
