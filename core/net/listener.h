// A listening socket.
#pragma once

#include "core/net/address.h"
#include "core/net/event_loop.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace millrace::net {

enum class PortSharing : uint8_t {
    exclusive,  // a second listener on the port is refused
    shared,     // SO_REUSEPORT: the kernel spreads connections over all who share the port
};

struct ListenOptions {
    std::string host;   // empty: all interfaces, IPv6 and IPv4
    uint16_t port = 0;  // 0: the kernel chooses
    PortSharing sharing = PortSharing::exclusive;
    int backlog = 512;
};

class Listener final : public Watcher, public Timer, public Disposable {
  public:
    // Takes over an accepted, non-blocking descriptor.
    using OnAccept = std::function<void(int fd)>;

    // Opens and starts to accept. On failure returns nullptr and sets `error` to a negated errno.
    static std::unique_ptr<Listener> open(EventLoop& loop, const ListenOptions& options,
                                          OnAccept on_accept, int& error);
    ~Listener() override;

    // Stops accepting and closes the descriptor. Idempotent.
    void close();
    bool is_open() const { return fd_ >= 0; }

    // -1 after close().
    int local_port() const { return is_open() ? port_ : -1; }

    void on_ready(Readiness ready) override;
    void on_timer() override;

  private:
    // Connections taken from one listener in one turn; the rest waits for the next turn, so that a
    // flood of new connections does not starve those that are open.
    static constexpr int accepts_per_turn = 128;
    // After running out of descriptors or memory: when to try again.
    static constexpr int64_t retry_ms = 100;

    Listener(EventLoop& loop, int fd, int port, OnAccept on_accept);
    void accept_some();

    EventLoop& loop_;
    int fd_;
    int port_;
    OnAccept on_accept_;
};

}  // namespace millrace::net
