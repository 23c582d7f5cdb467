// The real thing behind sys.h. A library of its own (millrace_sys), so that tests can link
// core/testing's replacement instead.
#include "core/net/sys.h"
#include "core/net/sys_linux_calls.h"

namespace millrace::net::sys {

int64_t monotonic_ns() { return LinuxCalls::monotonic_ns(); }
int64_t unix_seconds() { return LinuxCalls::unix_seconds(); }

void release_free_memory() { LinuxCalls::release_free_memory(); }

int epoll_create() { return LinuxCalls::epoll_create(); }
int epoll_add(int epoll, int fd, uint32_t events, void* data) {
    return LinuxCalls::epoll_add(epoll, fd, events, data);
}
int epoll_remove(int epoll, int fd) { return LinuxCalls::epoll_remove(epoll, fd); }
int epoll_wait(int epoll, epoll_event* events, int events_max, int timeout_ms) {
    return LinuxCalls::epoll_wait(epoll, events, events_max, timeout_ms);
}

int eventfd() { return LinuxCalls::eventfd(); }
int eventfd_signal(int fd) { return LinuxCalls::eventfd_signal(fd); }
int eventfd_clear(int fd) { return LinuxCalls::eventfd_clear(fd); }

int timerfd() { return LinuxCalls::timerfd(); }
int timerfd_arm(int fd, int64_t expiry_ns) { return LinuxCalls::timerfd_arm(fd, expiry_ns); }
int timerfd_clear(int fd) { return LinuxCalls::timerfd_clear(fd); }

int stream_socket(int family) { return LinuxCalls::stream_socket(family); }
int bind(int fd, const sockaddr* address, uint32_t address_bytes) {
    return LinuxCalls::bind(fd, address, address_bytes);
}
int listen(int fd, int backlog) { return LinuxCalls::listen(fd, backlog); }
int accept(int fd) { return LinuxCalls::accept(fd); }
int set_option(int fd, int level, int option, int value) {
    return LinuxCalls::set_option(fd, level, option, value);
}
int local_address(int fd, sockaddr* address, uint32_t* address_bytes) {
    return LinuxCalls::local_address(fd, address, address_bytes);
}
int peer_address(int fd, sockaddr* address, uint32_t* address_bytes) {
    return LinuxCalls::peer_address(fd, address, address_bytes);
}

int64_t receive(int fd, char* into, size_t bytes_max) {
    return LinuxCalls::receive(fd, into, bytes_max);
}
int64_t send(int fd, const char* from, size_t bytes) { return LinuxCalls::send(fd, from, bytes); }
int64_t send_gathered(int fd, const iovec* pieces, size_t piece_count) {
    return LinuxCalls::send_gathered(fd, pieces, piece_count);
}
int shutdown_send(int fd) { return LinuxCalls::shutdown_send(fd); }
int close(int fd) { return LinuxCalls::close(fd); }

void CloseSendRing::operator()(SendRing* ring) const { delete ring; }
SendRingOwner open_send_ring() { return LinuxCalls::open_send_ring(); }
void send_each(SendRing& ring, std::span<Send> sends) { LinuxCalls::send_each(ring, sends); }

}  // namespace millrace::net::sys
