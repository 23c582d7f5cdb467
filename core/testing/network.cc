#include "core/testing/network.h"

#include "core/testing/environment.h"
#include "core/testing/far_end.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

namespace millrace::testing {

std::string_view name_of(Transport transport) {
    return transport == Transport::memory ? "memory" : "loopback";
}

// --- Client --------------------------------------------------------------------------------------

class Client::State {
  public:
    explicit State(std::unique_ptr<FarEnd> end) : end_(std::move(end)) {}

    bool is_connected() const { return end_ != nullptr; }

    // Moves what can be moved; false if that is nothing.
    bool pump() {
        bool moved = pump_out();
        while (reads_automatically && read(SIZE_MAX) > 0)
            moved = true;
        return moved;
    }

    bool pump_out() {
        bool moved = false;
        while (is_open() && !outbox.empty()) {
            const int64_t count = end_->send(outbox);
            if (count <= 0) {
                note_error(count);
                break;
            }
            outbox.erase(0, static_cast<size_t>(count));
            moved = true;
        }
        if (finish_when_sent_ && outbox.empty() && is_open()) {
            finish_when_sent_ = false;
            end_->finish();
            moved = true;
        }
        return moved;
    }

    size_t read(size_t bytes_max) {
        std::array<char, 16 * 1024> piece;
        if (!is_open() || has_ended || bytes_max == 0) return 0;
        const int64_t count = end_->receive(piece.data(), std::min(piece.size(), bytes_max));
        if (count > 0) {
            inbox.append(piece.data(), static_cast<size_t>(count));
            return static_cast<size_t>(count);
        }
        if (count == 0) has_ended = true;
        note_error(count);
        return 0;
    }

    void half_close() {
        finish_when_sent_ = true;
        pump_out();
    }

    void close() {
        if (is_open()) end_->close();
        is_closed_ = true;
    }

    void reset() {
        if (is_open()) end_->reset();
        is_closed_ = true;
    }

    std::string inbox;
    std::string outbox;
    bool reads_automatically = true;
    bool has_ended = false;
    bool was_reset = false;

  private:
    bool is_open() const { return end_ != nullptr && !is_closed_; }

    void note_error(int64_t result) {
        if (result >= 0 || result == -EAGAIN) return;
        was_reset = true;
        outbox.clear();
    }

    std::unique_ptr<FarEnd> end_;
    bool is_closed_ = false;
    bool finish_when_sent_ = false;
};

bool Client::is_connected() const { return state_->is_connected(); }

void Client::send(std::string_view bytes) {
    state_->outbox.append(bytes);
    state_->pump_out();
}

size_t Client::unsent_bytes() const { return state_->outbox.size(); }

std::string_view Client::received() {
    state_->pump();
    return state_->inbox;
}

std::string Client::take_received() {
    state_->pump();
    return std::exchange(state_->inbox, {});
}

void Client::read_automatically(bool on) { state_->reads_automatically = on; }
size_t Client::read_some(size_t bytes_max) { return state_->read(bytes_max); }
void Client::half_close() { state_->half_close(); }
void Client::close() { state_->close(); }
void Client::reset() { state_->reset(); }

bool Client::has_ended() {
    state_->pump();
    return state_->has_ended;
}

bool Client::was_reset() {
    state_->pump();
    return state_->was_reset;
}

// --- TestNetwork ---------------------------------------------------------------------------------

TestNetwork::TestNetwork(Transport transport) : TestNetwork(transport, own_faults_) {}

TestNetwork::TestNetwork(Transport transport, Faults& faults)
    : transport_(transport),
      environment_(std::make_unique<Environment>()),
      outer_(std::exchange(environment, environment_.get())) {
    if (transport == Transport::loopback) environment_->calls.emplace<LoopbackCalls>();
    environment_->faults = &faults;
}

TestNetwork::~TestNetwork() { environment = outer_; }

Faults& TestNetwork::faults() { return *environment_->faults; }

Client TestNetwork::connect(uint16_t port, ConnectOptions options) {
    auto* memory = std::get_if<MemoryCalls>(&environment_->calls);
    return add_client(std::make_shared<Client::State>(
        memory != nullptr ? memory_far_end(memory->connect(port, options.buffer_bytes))
                          : loopback_far_end(port, options.buffer_bytes)));
}

Client TestNetwork::connect_unix(std::string_view path, ConnectOptions options) {
    auto* memory = std::get_if<MemoryCalls>(&environment_->calls);
    return add_client(std::make_shared<Client::State>(
        memory != nullptr ? memory_far_end(memory->connect_unix(path, options.buffer_bytes))
                          : loopback_far_end_unix(path, options.buffer_bytes)));
}

Client TestNetwork::add_client(std::shared_ptr<Client::State> state) {
    clients_.push_back(state);
    return Client{std::move(state)};
}

void TestNetwork::advance_ms(int64_t ms) {
    constexpr int64_t ns_per_ms = 1'000'000;
    std::visit([&](auto& calls) { calls.advance_ns(ms * ns_per_ms); }, environment_->calls);
}

size_t TestNetwork::open_descriptors() const { return environment_->descriptors.size(); }

uint64_t TestNetwork::memory_releases() const { return environment_->memory_releases; }

void TestNetwork::set_descriptors_max(size_t count) {
    std::get<MemoryCalls>(environment_->calls).set_descriptors_max(count);
}

uint32_t TestNetwork::quiet_rounds(Patience patience) const {
    // In memory one quiet round could still be one in which the code under test only queued work.
    if (transport_ == Transport::memory) return 2;
    // A quiet round on the loopback takes a millisecond.
    return patience == Patience::short_wait ? 10 : 10'000;
}

TestNetwork::Progress TestNetwork::after_turn(Settling& settling, bool work_is_left) {
    constexpr uint32_t rounds_max = 1'000'000;
    const bool moved = pump_clients();
    const bool is_quiet =
        !moved && !work_is_left &&
        std::exchange(settling.activity, environment_->activity) == environment_->activity;
    settling.quiet_rounds = is_quiet ? settling.quiet_rounds + 1 : 0;
    if (settling.quiet_rounds >= settling.limit) return Progress::quiet;
    if (++settling.rounds >= rounds_max) return Progress::restless;
    if (is_quiet && transport_ == Transport::loopback)
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    return Progress::moving;
}

bool TestNetwork::pump_clients() {
    bool moved = false;
    std::erase_if(clients_, [](const auto& client) { return client.expired(); });
    for (const auto& client : clients_)
        if (const auto state = client.lock()) moved |= state->pump();
    return moved;
}

}  // namespace millrace::testing
