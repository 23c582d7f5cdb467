// A server that does as little as a correct answer allows: it counts ends of requests and answers
// each with the same bytes. It shows what the kernel and the load generator leave room for: no
// server that makes the same system calls can be faster. It is not a web server: requests with a
// body, or a client that never stops pipelining, are outside of what it is for.
#pragma once

#include "core/net/io_ring.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::limit {

// How many times "\r\n\r\n" occurs.
size_t count_request_ends(std::string_view bytes);

class CannedServer {
  public:
    // A system call for each answer, or one for all answers of a round (needs io_uring).
    enum class Sends : uint8_t { each, grouped };

    // Listens on loopback; 0 takes a free port.
    explicit CannedServer(uint16_t port, Sends sends = Sends::each);
    ~CannedServer();
    CannedServer(const CannedServer&) = delete;
    CannedServer& operator=(const CannedServer&) = delete;

    uint16_t port() const { return port_; }  // 0 if it cannot listen
    // False if the kernel does not let us group sends.
    bool can_send() const { return !ring_ || ring_->failure() == 0; }

    // Serves until stop() is called from a signal handler or another thread.
    void run();
    void stop();

  private:
    struct Peer {
        int fd = -1;
        uint8_t carried_bytes = 0;
        char carried[3];            // the end of the last read, where a terminator may have begun
        uint64_t unsent_bytes = 0;  // they end with a whole response
    };

    void accept_all();
    void serve(Peer& peer, uint32_t events);
    void read_requests(Peer& peer, bool to_the_end);
    void flush_answered();
    void send_together();
    void flush(Peer& peer);
    std::string_view unsent(const Peer& peer) const;
    void drop(Peer& peer);
    void refresh_date();
    Peer& peer_of(int fd);

    uint16_t port_ = 0;
    int listener_ = -1;
    int epoll_ = -1;
    int wake_ = -1;  // an eventfd that ends run()
    bool stopping_ = false;
    int64_t date_s_ = -1;  // the second for which `responses_` was made
    size_t response_bytes_ = 0;
    std::string responses_;
    std::vector<char> buffer_;
    std::vector<Peer*> answered_;  // since the last wait
    std::vector<Peer*> flushing_;
    std::optional<net::IoRing> ring_;
    std::deque<Peer> peers_;  // by descriptor; a deque keeps the addresses that epoll holds
};

}  // namespace millrace::limit
