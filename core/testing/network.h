// A network for one test, in memory or over the kernel's loopback, and clients on its far side. The
// same scenario runs on both:
//
//     TestNetwork network{Transport::memory};
//     ... code under test listens on `port` ...
//     Client client = network.connect(port);
//     client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
//     network.settle([&] { return loop.turn(0); });
//     EXPECT_EQ(client.received(), "HTTP/1.1 200 OK\r\n...");
#pragma once

#include "core/testing/faults.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace millrace::testing {

struct Environment;

enum class Transport : uint8_t { memory, loopback };

// "memory" or "loopback", for names of parametrised tests.
std::string_view name_of(Transport transport);

struct ConnectOptions {
    // How much each direction holds that the other side has not read. Exact in memory; on the
    // loopback it sets the client's receive buffer only, and the kernel rounds it up.
    size_t buffer_bytes = 64 * 1024;
};

// The peer of one connection. Copies are the same client; the last one that goes closes it.
class Client {
  public:
    // False if the connection was refused.
    bool is_connected() const;

    // Sends `bytes`; what does not fit yet is sent while the network settles.
    void send(std::string_view bytes);
    size_t unsent_bytes() const;

    // All that has come so far and was not taken. Valid until the next call on this client.
    std::string_view received();
    std::string take_received();

    // Off: the client does not read, and the sender runs into the bounded buffer.
    void read_automatically(bool on);
    // Reads at most `bytes_max` now, also when not reading automatically. Returns how many came.
    size_t read_some(size_t bytes_max);

    // FIN, once everything is sent. The client can still receive.
    void half_close();
    void close();
    // RST: the peer finds ECONNRESET.
    void reset();

    // The server finished (all that it sent has been read), or reset the connection.
    bool has_ended();
    bool was_reset();

    class State;

  private:
    friend class TestNetwork;
    explicit Client(std::shared_ptr<State> state) : state_(std::move(state)) {}

    std::shared_ptr<State> state_;
};

// While it lives it is the network of this thread: millrace::net::sys works on it. Its faults and
// its clock apply to calls of this thread only; in memory, descriptors mean something in this
// thread only. Must outlive the code under test, and lives on the stack (networks nest).
class TestNetwork {
  public:
    explicit TestNetwork(Transport transport);
    TestNetwork(Transport transport, Faults& faults);
    ~TestNetwork();
    TestNetwork(const TestNetwork&) = delete;
    TestNetwork& operator=(const TestNetwork&) = delete;

    Transport transport() const { return transport_; }
    Faults& faults();

    // Connects to 127.0.0.1. A connection is in the listener's line at once.
    Client connect(uint16_t port, ConnectOptions options = {});
    Client connect_unix(std::string_view path, ConnectOptions options = {});

    // Calls `turn` (one turn of the code under test that does not wait; it may return true for
    // "work is left") until neither side does anything any more. False if that never comes to be.
    template <typename Turn>
    bool settle(Turn turn) {
        Settling settling{.limit = quiet_rounds(Patience::short_wait)};
        Progress progress;
        do {
            progress = after_turn(settling, run(turn));
        } while (progress == Progress::moving);
        return progress == Progress::quiet;
    }

    // Likewise until `condition` holds, and returns whether it came to hold. The one to use for
    // what the kernel may take its time over: on the loopback it waits some 10 s before it gives
    // up.
    template <typename Turn, typename Condition>
    bool settle_until(Turn turn, Condition condition) {
        Settling settling{.limit = quiet_rounds(Patience::long_wait)};
        while (!condition())
            if (after_turn(settling, run(turn)) != Progress::moving) return condition();
        return true;
    }

    // Moves the clock. In memory it stands still otherwise; on the loopback this comes on top of
    // the time that goes by. Timers fire in the next turn.
    void advance_ms(int64_t ms);

    // Descriptors that the code under test was given and has not closed.
    size_t open_descriptors() const;

    // How often the code under test gave memory back.
    uint64_t memory_releases() const;

    // In memory: more descriptors than that are refused with EMFILE.
    void set_descriptors_max(size_t count);

  private:
    enum class Progress : uint8_t { moving, quiet, restless };
    enum class Patience : uint8_t { short_wait, long_wait };

    struct Settling {
        uint32_t limit;  // of quiet_rounds
        uint32_t rounds = 0;
        uint32_t quiet_rounds = 0;  // the last ones in a row
        uint64_t activity = 0;
    };

    template <typename Turn>
    static bool run(Turn& turn) {
        if constexpr (std::is_same_v<std::invoke_result_t<Turn&>, bool>) {
            return turn();
        } else {
            turn();
            return false;
        }
    }

    uint32_t quiet_rounds(Patience patience) const;
    Progress after_turn(Settling& settling, bool work_is_left);
    bool pump_clients();
    Client add_client(std::shared_ptr<Client::State> state);

    const Transport transport_;
    Faults own_faults_;
    std::unique_ptr<Environment> environment_;
    Environment* const outer_;
    std::vector<std::weak_ptr<Client::State>> clients_;
};

}  // namespace millrace::testing
