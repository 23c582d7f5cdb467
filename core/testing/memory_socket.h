// Sockets of the memory network. They behave as TCP does on Linux, seen through epoll, recv() and
// send(); each direction is one bounded buffer and delivery takes no time.
#pragma once

#include "core/testing/memory_file.h"

#include <sys/socket.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace millrace::testing {

// A socket address as bytes: sockaddr_in, sockaddr_in6 or sockaddr_un.
class MemoryAddress {
  public:
    MemoryAddress() = default;
    MemoryAddress(const sockaddr* address, uint32_t bytes)
        : bytes_(reinterpret_cast<const char*>(address), bytes) {}

    // 127.0.0.1, as itself or mapped into IPv6; of AF_UNIX, one without a path.
    static MemoryAddress local_host(int family, uint16_t port);

    int family() const;
    uint16_t port() const;
    void set_port(uint16_t port);
    bool is_wildcard() const;
    // Two listeners of these addresses would get in each other's way.
    bool conflicts_with(const MemoryAddress& other) const;
    bool operator==(const MemoryAddress&) const = default;

    // As getsockname() gives it: `*room` is the room at `into`, then the size of the address.
    void copy_to(sockaddr* into, uint32_t* room) const;

  private:
    template <typename Address>
    Address as() const;

    std::string bytes_;
};

// One end of a connection.
class MemoryStream : public MemoryFile, public std::enable_shared_from_this<MemoryStream> {
  public:
    MemoryStream(size_t buffer_bytes, MemoryAddress local, MemoryAddress peer)
        : buffer_bytes_(buffer_bytes), local_(std::move(local)), peer_address_(std::move(peer)) {}

    static void join(const std::shared_ptr<MemoryStream>& a,
                     const std::shared_ptr<MemoryStream>& b);

    int64_t receive(char* into, size_t bytes_max);
    int64_t send(std::string_view bytes);
    int shutdown_send();

    // Ends the connection at once: the peer gets ECONNRESET (or EPIPE if we had finished before).
    void reset();

    // Like close(): finishes, or resets if received bytes were never read.
    void on_close() override;

    uint32_t poll() override;

    bool is_dead() const { return is_dead_; }
    size_t unread_bytes() const { return inbox_.size() - inbox_begin_; }
    const MemoryAddress& local() const { return local_; }
    const MemoryAddress& peer_address() const { return peer_address_; }

  private:
    size_t room() const { return buffer_bytes_ - unread_bytes(); }
    bool is_writable() const;
    void on_finish();
    void on_reset();
    void on_room();
    void die(int error);

    const size_t buffer_bytes_;  // of inbox_
    const MemoryAddress local_;
    const MemoryAddress peer_address_;
    std::weak_ptr<MemoryStream> peer_;

    std::string inbox_;  // received, from inbox_begin_ on not read yet
    size_t inbox_begin_ = 0;
    int error_ = 0;              // SO_ERROR, positive
    bool has_sent_fin_ = false;  // SEND_SHUTDOWN
    bool has_received_fin_ = false;
    bool is_dead_ = false;  // reset by either side
    bool is_closed_ = false;
    bool wants_room_ = false;  // SOCK_NOSPACE: tell when there is room again
};

// A socket before it is connected: fresh, bound, or listening.
class MemorySocket : public MemoryFile {
  public:
    explicit MemorySocket(int family) : family_(family) {}

    // False if the backlog is full.
    bool enqueue(std::shared_ptr<MemoryStream> stream);
    std::shared_ptr<MemoryStream> dequeue();  // nullptr if nobody waits
    void on_close() override;
    uint32_t poll() override;

    int family() const { return family_; }
    bool is_bound() const { return is_bound_; }
    bool is_listening() const { return is_listening_; }
    const MemoryAddress& address() const { return address_; }
    void bind_to(const MemoryAddress& address);
    void listen(int backlog);
    void set_option(int level, int option, int value) { options_[{level, option}] = value; }
    int option(int level, int option) const;

  private:
    const int family_;
    MemoryAddress address_;
    bool is_bound_ = false;
    bool is_listening_ = false;
    size_t backlog_ = 0;
    std::map<std::pair<int, int>, int> options_;
    std::deque<std::shared_ptr<MemoryStream>> pending_;
};

}  // namespace millrace::testing
