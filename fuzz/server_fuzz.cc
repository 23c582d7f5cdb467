// A whole server on the memory network. The input is a program: what several clients do (connect,
// send, stop reading, half-close, reset), what the handlers do with their requests, how time goes
// by, and which system calls fail.
//
// Whatever it says: no invariant breaks, every exchange ends once, what each client hears is a
// sequence of well-formed answers, no more than it made requests (and one for what was wrong), and
// in the end the server still answers a newcomer.
#include "core/http/body_framing.h"
#include "core/http/head_parser.h"
#include "core/testing/answer_reader.h"
#include "core/testing/network.h"
#include "fuzz/require.h"
#include "millrace/millrace.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace millrace;
using millrace::fuzz::require;
using millrace::testing::Client;
using millrace::testing::Faults;
using millrace::testing::TestNetwork;
using millrace::testing::Transport;

constexpr size_t clients_max = 6;
constexpr int operations_max = 300;
constexpr size_t large_bytes = 20'000;  // more than what is gathered

// The input, read from its front. Zeros behind its end.
class Choices {
  public:
    explicit Choices(std::string_view input) : input_(input) {}

    bool is_over() const { return input_.empty(); }
    uint8_t byte() {
        if (input_.empty()) return 0;
        const auto value = static_cast<uint8_t>(input_.front());
        input_.remove_prefix(1);
        return value;
    }
    size_t below(size_t count) { return byte() % count; }
    std::string_view bytes(size_t count) {
        const std::string_view taken = input_.substr(0, count);
        input_.remove_prefix(taken.size());
        return taken;
    }

  private:
    std::string_view input_;
};

// Requests that are worth sending whole.
constexpr std::array<std::string_view, 14> requests{
    "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /none HTTP/1.0\r\n\r\n",
    "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n",
    "CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n",
    "DELETE /get HTTP/1.1\r\nHost: x\r\n\r\n",
    "HEAD / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
    "broken\r\n\r\n",
};

HttpLimits limits_of(Choices& choices) {
    HttpLimits limits;
    const uint8_t bits = choices.byte();
    if (bits & 1) limits.pipeline_max = 1 + bits % 3;
    if (bits & 2) limits.body_hold_bytes_max = bits;
    if (bits & 4) limits.body_discard_bytes_max = bits;
    if (bits & 8) limits.head_bytes_max = 64 + bits;
    if (bits & 16) limits.fields_max = 1 + bits % 4;
    if (bits & 32) limits.trailer_bytes_max = bits;
    return limits;
}

struct Exchange {
    Response response;
    int aborts = 0;
    bool is_answered = false;
    bool has_thrown = false;  // then the engine may have answered it
};

struct Peer {
    Client client;
    std::string sent;
};

class Session {
  public:
    explicit Session(std::string_view input)
        : choices_(input), limits_(limits_of(choices_)), large_(large_bytes, 'L') {
        static char arena[64 * 1024];
        loop_.emplace(Loop::Options{.receive_arena = arena});
        app_.emplace(*loop_, ServerOptions{.limits = limits_});
        app_->get("/get", [](Response& response, Request&) { response.end("got"); });
        app_->get("/ping", [](Response& response, Request&) { response.end("pong"); });
        app_->any("/", [this](Response& response, Request& request) { take(response, request); });
        app_->any("/:x", [this](Response& response, Request& request) { take(response, request); });
        port_ = app_->listen({.host = "127.0.0.1"});
    }

    void run() {
        for (int count = 0; count < operations_max && !choices_.is_over(); ++count)
            operate();
        choices_ = Choices{{}};
        network_.faults() = {};
        check_still_serves();
        for (Peer& peer : peers_)
            check_heard(peer);
        app_.reset();
        for (const auto& exchange : exchanges_) {
            require(!exchange->response.is_open(), "no exchange outlives its app");
            const int ends = exchange->aborts + (exchange->is_answered ? 1 : 0);
            require(ends == 1 || (ends == 0 && exchange->has_thrown), "an exchange ends once");
        }
    }

  private:
    // --- Handlers ------------------------------------------------------------------------------

    void take(Response& response, Request& request) {
        if (choices_.below(16) == 15) return request.yield();
        exchanges_.push_back(std::make_unique<Exchange>());
        Exchange& exchange = *exchanges_.back();
        exchange.response = response;
        app_->on_aborted(response, [&exchange] {
            require(!exchange.response.is_open(), "an aborted exchange is not open");
            ++exchange.aborts;
        });
        act(exchange);
    }

    // Does one thing to an exchange; the API may refuse it.
    void act(Exchange& exchange) {
        const bool was_open = exchange.response.is_open();
        const int aborts = exchange.aborts;
        try {
            if (choices_.below(2) == 0)
                answer(exchange.response);
            else
                look_after(exchange);
        } catch (const Error&) {
            require(exchange.response.is_open() == was_open, "a refused call changes nothing");
        } catch (const std::runtime_error&) {
            exchange.has_thrown = true;
            throw;
        }
        if (was_open && !exchange.response.is_open() && exchange.aborts == aborts)
            exchange.is_answered = true;
    }

    void answer(Response response) {
        switch (choices_.below(13)) {
            case 0:
                return response.end("small");
            case 1:
                return response.end(large_);
            case 2:
                response.write("piece");
                return response.end("last");
            case 3:
                response.write(large_);
                return response.end();
            case 4:
                return response.end("closing", Close::yes);
            case 5:
                return response.end_without_body();
            case 6:
                return response.end_without_body(7);
            case 7:
                return response.status("204").end("nothing");
            case 8:
                return response.status("304 Same").end();
            case 9:
                return response.header("x-a", "b").header("connection", "close").end("c");
            case 10:
                static_cast<void>(response.try_end(large_, large_.size()));
                return;
            case 11:
                static_cast<void>(response.try_end("abc", choices_.byte()));
                return;
            default:
                return response.end(large_.substr(0, choices_.byte()));
        }
    }

    void look_after(Exchange& exchange) {
        Response response = exchange.response;
        switch (choices_.below(16)) {
            case 0:
                static_cast<void>(response.write("piece"));
                return;
            case 1:
                static_cast<void>(response.write(large_));
                return;
            case 2:
                return response.begin_write();
            case 3:
                return response.pause();
            case 4:
                return response.resume();
            case 5:
                return response.close();
            case 6:
                return app_->close();
            case 7:
                return app_->stop_listening();
            case 8:
                return read_body(exchange);
            case 9:
                return collect(exchange);
            case 10:
                return write_on(exchange);
            case 11:
                return later(exchange);
            case 12:
                return response.notify_writable();
            case 13:
                response.status("299 Odd").header("x-long", large_.substr(0, 300));
                return;
            case 14:
                throw std::runtime_error("a handler");
            default:
                return;  // nothing, for now
        }
    }

    void read_body(Exchange& exchange) {
        app_->on_data(exchange.response, [this, &exchange](const BodyPiece& piece) {
            require(exchange.response.is_open(), "pieces come to open exchanges only");
            if (piece.is_last) return act(exchange);
            if (choices_.below(4) == 0) exchange.response.pause();
        });
    }

    void collect(Exchange& exchange) {
        app_->collect_body(exchange.response, 200, [&exchange](auto body) {
            exchange.response.end(body.value_or("too large"));
            exchange.is_answered = true;
        });
    }

    void write_on(Exchange& exchange) {
        app_->on_writable(exchange.response, [this, &exchange](uint64_t) {
            const size_t choice = choices_.below(4);
            if (choice < 2) act(exchange);
            return choice != 3;
        });
    }

    void later(Exchange& exchange) {
        loop_->after(choices_.byte(), [this, &exchange] {
            if (exchange.response.is_open()) act(exchange);
        });
    }

    // --- Clients, time, faults -----------------------------------------------------------------

    void operate() {
        const size_t operation = choices_.below(16);
        if (operation < 2) return connect();
        if (operation == 2) return advance();
        if (operation == 3) return turn();
        if (operation == 4) return inject();
        if (operation == 5) return act_later();
        if (peers_.empty()) return connect();
        Peer& peer = peers_[choices_.below(peers_.size())];
        switch (operation) {
            case 6:
            case 7:
                return send(peer, choices_.bytes(choices_.byte()));
            case 8:
            case 9:
            case 10:
                return send(peer, requests[choices_.below(requests.size())]);
            case 11:
                return peer.client.half_close();
            case 12:
                return choices_.below(2) ? peer.client.reset() : peer.client.close();
            case 13:
                return peer.client.read_automatically(choices_.below(2) == 0);
            case 14:
                static_cast<void>(peer.client.read_some(choices_.byte()));
                return turn();
            default:
                return turn();
        }
    }

    void connect() {
        if (peers_.size() == clients_max) return turn();
        constexpr std::array<size_t, 4> buffers{64 * 1024, 4'000, 300, 16 * 1024};
        Client client = network_.connect(port_, {.buffer_bytes = buffers[choices_.below(4)]});
        if (client.is_connected()) peers_.push_back({std::move(client), {}});
    }

    void send(Peer& peer, std::string_view bytes) {
        peer.sent += bytes;
        peer.client.send(bytes);
    }

    void advance() {
        constexpr std::array<int64_t, 8> steps_ms{1, 32, 33, 500, 2'000, 11'000, 40'000, 80'000};
        network_.advance_ms(steps_ms[choices_.below(steps_ms.size())]);
        turn();
    }

    void inject() {
        constexpr std::array<int, 4> errors{EAGAIN, ECONNRESET, ENOMEM, EMFILE};
        constexpr std::array<testing::Call, 4> calls{testing::Call::receive, testing::Call::send,
                                                     testing::Call::accept, testing::Call::finish};
        const uint8_t bits = choices_.byte();
        network_.faults().short_io_bytes(bits & 1 ? 1 + bits / 8 : 0);
        if (bits & 2)
            network_.faults().fail({.call = calls[bits >> 2 & 3],
                                    .step = 1 + static_cast<uint64_t>(bits >> 6),
                                    .error = errors[bits >> 4 & 3]});
    }

    void act_later() {
        if (exchanges_.empty()) return turn();
        Exchange& exchange = *exchanges_[choices_.below(exchanges_.size())];
        if (!exchange.response.is_open()) return;
        loop_->post([this, &exchange] {
            if (exchange.response.is_open()) act(exchange);
        });
        turn();
    }

    void turn() {
        try {
            loop_->turn();
        } catch (const std::runtime_error&) {
            // What a handler threw.
        }
        for (Peer& peer : peers_)
            static_cast<void>(peer.client.received());
    }

    // --- What must hold ------------------------------------------------------------------------

    void check_still_serves() {
        app_->stop_listening();
        Client newcomer = network_.connect(port_ = app_->listen({.host = "127.0.0.1"}));
        require(newcomer.is_connected(), "the server listens again");
        newcomer.send("GET /ping HTTP/1.1\r\nHost: x\r\n\r\n");
        for (int count = 0; count < 1'000; ++count) {
            if (newcomer.received().ends_with("pong")) return;
            turn();
        }
        require(false, "a newcomer is answered");
    }

    // Methods of the whole heads that the peer sent, as long as the stream is one of requests.
    std::vector<std::string> methods_of(const Peer& peer) const {
        std::vector<std::string> methods;
        std::string padded = peer.sent + std::string(scan_padding_bytes, '\0');
        PaddedBytes rest = PaddedBytes::promise(padded.data(), peer.sent.size());
        std::vector<Field> storage(limits_.fields_max);
        while (!rest.empty()) {
            http::RequestHead head;
            const http::HeadStep step = http::parse_head(rest, limits_, storage, head);
            if (step.verdict != Verdict::complete) break;
            methods.emplace_back(head.method);
            rest = rest.from(step.consumed_bytes);
            http::BodyDecoder body;
            body.start(head);
            bool is_broken = false;
            while (!body.is_complete() && !rest.empty() && !is_broken) {
                const auto part = body.next(rest.text(), limits_);
                rest = rest.from(part.consumed_bytes);
                is_broken = part.verdict == Verdict::rejected;
            }
            if (is_broken || !head.keep_alive) break;
        }
        return methods;
    }

    void check_heard(Peer& peer) const {
        const auto methods = methods_of(peer);
        const bool has_ended = peer.client.has_ended() || peer.client.was_reset();
        const auto heard = testing::read_answers(peer.client.received(), methods, has_ended);
        if (!heard.error.empty()) std::fprintf(stderr, "%s\n", testing::summary(heard).c_str());
        require(heard.error.empty(), "answers are well-formed");
        require(heard.answers.size() <= 2 * methods.size() + 1, "no more answers than requests");
        require(heard.final_count() <= methods.size() + 1, "no more final answers than requests");
    }

    Choices choices_;
    const HttpLimits limits_;
    const std::string large_;
    std::vector<std::unique_ptr<Exchange>> exchanges_;
    TestNetwork network_{Transport::memory};
    std::optional<Loop> loop_;
    std::optional<App> app_;
    std::vector<Peer> peers_;
    uint16_t port_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Session{{reinterpret_cast<const char*>(data), size}}.run();
    return 0;
}
