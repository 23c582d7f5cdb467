// The calls of sys.h on the memory network: descriptors, ports and a clock that only the test
// moves. Belongs to one thread.
#pragma once

#include "core/net/sys.h"
#include "core/testing/memory_file.h"
#include "core/testing/memory_socket.h"

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace millrace::testing {

class MemoryCalls {
  public:
    MemoryCalls();
    ~MemoryCalls();

    // --- As in sys.h ---------------------------------------------------------------------------

    int64_t monotonic_ns() const { return now_ns_; }
    int64_t unix_seconds() const;

    int epoll_create() { return open(std::make_shared<MemoryEpoll>()); }
    int epoll_add(int epoll, int fd, uint32_t events, void* data);
    int epoll_remove(int epoll, int fd);
    // Never waits: with nothing ready it returns 0 at once, as if the time were over.
    int epoll_wait(int epoll, epoll_event* events, int events_max, int timeout_ms);

    int eventfd() { return open(std::make_shared<MemoryEventfd>()); }
    int eventfd_signal(int fd);
    int eventfd_clear(int fd);

    int timerfd() { return open(std::make_shared<MemoryTimerfd>()); }
    int timerfd_arm(int fd, int64_t expiry_ns);
    int timerfd_clear(int fd);

    int stream_socket(int family);
    int bind(int fd, const sockaddr* address, uint32_t address_bytes);
    int listen(int fd, int backlog);
    int accept(int fd);
    int set_option(int fd, int level, int option, int value);
    int local_address(int fd, sockaddr* address, uint32_t* address_bytes);
    int peer_address(int fd, sockaddr* address, uint32_t* address_bytes);

    int64_t receive(int fd, char* into, size_t bytes_max);
    int64_t send(int fd, const char* from, size_t bytes);
    int64_t send_gathered(int fd, const iovec* pieces, size_t piece_count);
    int shutdown_send(int fd);
    int close(int fd);
    // Of no kernel: it is there so that what uses it is tested here, too.
    net::sys::SendRingOwner open_send_ring();
    void send_each(net::sys::SendRing& ring, std::span<net::sys::Send> sends);

    // --- For tests -----------------------------------------------------------------------------

    void advance_ns(int64_t ns);

    // Reports what holds of `fd` now as new.
    void rearm(int fd);

    // The far end of a new connection to whoever listens there; nullptr if it is refused. Each
    // direction holds `buffer_bytes`.
    std::shared_ptr<MemoryStream> connect(uint16_t port, size_t buffer_bytes);
    std::shared_ptr<MemoryStream> connect_unix(std::string_view path, size_t buffer_bytes);

    // More descriptors than that are refused with EMFILE.
    void set_descriptors_max(size_t count) { descriptors_max_ = count; }

    // True if `fd` was given out here (it may be closed by now). Numbers are far above those of
    // real descriptors, and the lowest free one is used again first, as in the kernel.
    static bool owns(int fd) { return fd >= first_fd; }

  private:
    static constexpr int first_fd = 1'000'000;

    int open(std::shared_ptr<MemoryFile> file);
    size_t open_count() const;
    std::shared_ptr<MemoryFile> file_of(int fd) const;
    template <typename File>
    std::shared_ptr<File> file_as(int fd) const;
    int stream_error(int fd) const;
    int check_bind(const MemorySocket& socket, const MemoryAddress& address) const;
    uint16_t free_port(const MemorySocket& socket, MemoryAddress address) const;
    std::shared_ptr<MemoryStream> connect_to(MemorySocket& listener, size_t buffer_bytes);

    std::vector<std::shared_ptr<MemoryFile>> files_;  // by number, from first_fd on
    size_t descriptors_max_ = SIZE_MAX;
    int64_t now_ns_;
    uint16_t client_port_;
    size_t listener_turn_ = 0;
    uint64_t idle_waits_ = 0;
};

}  // namespace millrace::testing
