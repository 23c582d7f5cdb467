// Every system call of the engine, by one name each. sys_linux.cc is the real thing; tests link
// core/testing's replacement, which adds a memory network, injected faults and a manual clock.
//
// Conventions: a result below zero is the negated errno; EINTR is retried inside. All descriptors
// are created non-blocking and close-on-exec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct epoll_event;
struct iovec;
struct sockaddr;

namespace millrace::net::sys {

// --- Time --------------------------------------------------------------------------------------
int64_t monotonic_ns();
int64_t unix_seconds();

// --- Memory ------------------------------------------------------------------------------------
// Gives pages that the allocator holds free back to the system, where it can.
void release_free_memory();

// --- Readiness ---------------------------------------------------------------------------------
int epoll_create();
int epoll_add(int epoll, int fd, uint32_t events, void* data);
int epoll_remove(int epoll, int fd);
int epoll_wait(int epoll, epoll_event* events, int events_max, int timeout_ms);

int eventfd();
int eventfd_signal(int fd);
int eventfd_clear(int fd);

int timerfd();
// Fires once at `monotonic_ns` of CLOCK_MONOTONIC; 0 disarms.
int timerfd_arm(int fd, int64_t monotonic_ns);
int timerfd_clear(int fd);

// --- Stream sockets ----------------------------------------------------------------------------
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

// --- Many sends together -----------------------------------------------------------------------
// What makes one system call of many sends. Belongs to one thread.
class SendRing;
struct CloseSendRing {
    void operator()(SendRing* ring) const;
};
using SendRingOwner = std::unique_ptr<SendRing, CloseSendRing>;

// nullptr if the kernel does not let us.
SendRingOwner open_send_ring();

struct Send {
    int fd;
    const char* from;
    size_t bytes;
    int64_t result = 0;  // as send() returns it
};
// Does each as send() does, in their order.
void send_each(SendRing& ring, std::span<Send> sends);

}  // namespace millrace::net::sys
