// Edge-triggered epoll, and a system call for every read and every write.
#pragma once

#include "bench/load/socket.h"
#include "bench/load/transport.h"

#include <vector>

namespace millrace::load {

class EpollTransport final : public Transport {
  public:
    EpollTransport();

    void add(Connection& connection) override;
    ErrorKind flush(Connection& connection) override;
    void drop(Connection&) override {}  // closing the socket takes it out of epoll
    void wait(int64_t timeout_ns, Sink& sink) override;
    std::string_view name() const override { return "epoll"; }

  private:
    void on_event(Connection& connection, uint32_t events, Sink& sink);
    void receive(Connection& connection, bool is_ending, Sink& sink);

    Fd epoll_;
    std::vector<char> buffer_;
};

}  // namespace millrace::load
