// The system calls behind sys.h on Linux, inline, so that sys_linux.cc (the engine) and
// core/testing (its loopback transport) share one body each. Nobody else includes this file.
#pragma once

#include "core/net/io_ring.h"
#include "core/net/sys.h"

#include <malloc.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <span>

namespace millrace::net::sys {

class SendRing {
  public:
    static constexpr uint32_t entries = 128;
    std::optional<IoRing> io;  // nothing in tests that have no kernel below
};

struct LinuxCalls {
    // --- Time --------------------------------------------------------------------------------

    static int64_t monotonic_ns() {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * ns_per_second + now.tv_nsec;
    }

    static int64_t unix_seconds() {
        timespec now{};
        clock_gettime(CLOCK_REALTIME, &now);
        return now.tv_sec;
    }

    // --- Memory ------------------------------------------------------------------------------

    static void release_free_memory() {
#ifdef __GLIBC__
        malloc_trim(0);
#endif
    }

    // --- Readiness ---------------------------------------------------------------------------

    static int epoll_create() { return result(::epoll_create1(EPOLL_CLOEXEC)); }

    static int epoll_add(int epoll, int fd, uint32_t events, void* data) {
        epoll_event event{};
        event.events = events;
        event.data.ptr = data;
        return result(::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
    }

    static int epoll_remove(int epoll, int fd) {
        // Kernels before 2.6.9 wanted an event here; passing one costs nothing.
        epoll_event unused{};
        return result(::epoll_ctl(epoll, EPOLL_CTL_DEL, fd, &unused));
    }

    static int epoll_wait(int epoll, epoll_event* events, int events_max, int timeout_ms) {
        // A signal must not make the wait longer than asked for.
        const int64_t deadline_ns =
            timeout_ms > 0 ? monotonic_ns() + timeout_ms * ns_per_millisecond : 0;
        while (true) {
            const int count = ::epoll_wait(epoll, events, events_max, timeout_ms);
            if (count >= 0 || errno != EINTR) return result(count);
            if (timeout_ms <= 0) continue;
            const int64_t left_ns = std::max<int64_t>(deadline_ns - monotonic_ns(), 0);
            timeout_ms = static_cast<int>((left_ns + ns_per_millisecond - 1) / ns_per_millisecond);
        }
    }

    static int eventfd() { return result(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)); }

    static int eventfd_signal(int fd) {
        const uint64_t one = 1;
        const auto written = retried([&] { return ::write(fd, &one, sizeof one); });
        // EAGAIN: the counter is full, and so the descriptor is as readable as it can be.
        return written >= 0 || written == -EAGAIN ? 0 : static_cast<int>(written);
    }

    static int eventfd_clear(int fd) { return clear_counter(fd); }

    static int timerfd() {
        return result(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    }

    static int timerfd_arm(int fd, int64_t expiry_ns) {
        itimerspec timer{};
        timer.it_value.tv_sec = static_cast<time_t>(expiry_ns / ns_per_second);
        timer.it_value.tv_nsec = static_cast<long>(expiry_ns % ns_per_second);
        return result(::timerfd_settime(fd, TFD_TIMER_ABSTIME, &timer, nullptr));
    }

    static int timerfd_clear(int fd) { return clear_counter(fd); }

    // --- Stream sockets ----------------------------------------------------------------------

    static int stream_socket(int family) {
        return result(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    }

    static int bind(int fd, const sockaddr* address, uint32_t address_bytes) {
        return result(::bind(fd, address, address_bytes));
    }

    static int listen(int fd, int backlog) { return result(::listen(fd, backlog)); }

    static int accept(int fd) {
        return static_cast<int>(
            retried([&] { return ::accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC); }));
    }

    static int set_option(int fd, int level, int option, int value) {
        return result(::setsockopt(fd, level, option, &value, sizeof value));
    }

    static int local_address(int fd, sockaddr* address, uint32_t* address_bytes) {
        return result(::getsockname(fd, address, address_bytes));
    }

    static int peer_address(int fd, sockaddr* address, uint32_t* address_bytes) {
        return result(::getpeername(fd, address, address_bytes));
    }

    static int64_t receive(int fd, char* into, size_t bytes_max) {
        return retried([&] { return ::recv(fd, into, bytes_max, 0); });
    }

    static int64_t send(int fd, const char* from, size_t bytes) {
        return retried([&] { return ::send(fd, from, bytes, MSG_NOSIGNAL); });
    }

    static int64_t send_gathered(int fd, const iovec* pieces, size_t piece_count) {
        msghdr message{};
        // sendmsg() only reads the pieces, and refuses more than IOV_MAX of them.
        message.msg_iov = const_cast<iovec*>(pieces);
        message.msg_iovlen = std::min<size_t>(piece_count, IOV_MAX);
        return retried([&] { return ::sendmsg(fd, &message, MSG_NOSIGNAL); });
    }

    static int shutdown_send(int fd) { return result(::shutdown(fd, SHUT_WR)); }

    static int close(int fd) {
        const int closed = result(::close(fd));
        // On Linux the descriptor is gone even then; a second close could hit somebody else's.
        return closed == -EINTR ? 0 : closed;
    }

    // --- Many sends together -----------------------------------------------------------------

    static SendRingOwner open_send_ring() {
        SendRingOwner ring(new SendRing);
        // Plain flags: sends that never wait are complete when they have been submitted.
        ring->io.emplace(SendRing::entries, 2 * SendRing::entries, 0);
        return ring->io->failure() == 0 ? std::move(ring) : nullptr;
    }

    static void send_each(SendRing& ring, std::span<Send> sends) {
        while (!sends.empty()) {
            const size_t count = std::min<size_t>(sends.size(), SendRing::entries);
            send_together(*ring.io, sends.first(count));
            sends = sends.subspan(count);
        }
    }

  private:
    static constexpr int64_t not_done = INT64_MIN;

    static void send_together(IoRing& ring, std::span<Send> sends) {
        for (size_t index = 0; index < sends.size(); ++index) {
            Send& one = sends[index];
            one.result = not_done;
            io_uring_sqe* const entry = ring.next();
            if (entry == nullptr) break;
            prepare_send(*entry, one.fd, {one.from, one.bytes}, MSG_NOSIGNAL | MSG_DONTWAIT, index);
        }
        const size_t taken = submit(ring);
        // With MSG_DONTWAIT all that was taken is complete by now. If a kernel saw that otherwise,
        // there would be nothing to do but wait for it.
        for (size_t under_way = taken; under_way > 0;) {
            const uint32_t done = ring.each_completion([&](const io_uring_cqe& completion) {
                sends[completion.user_data].result = completion.res;
            });
            under_way -= std::min<size_t>(done, under_way);
            if (done > 0 || under_way == 0) continue;
            const int waited = ring.enter(1, IORING_ENTER_GETEVENTS);
            if (waited < 0 && waited != -EINTR) break;
        }
        for (size_t index = 0; index < sends.size(); ++index) {
            Send& one = sends[index];
            if (one.result == not_done && index < taken)
                one.result = -EIO;  // nobody knows what became of it
            else if (one.result == not_done || one.result == -EINTR)
                one.result = send(one.fd, one.from, one.bytes);
        }
    }

    // Returns how many entries the kernel took; the others are no longer in the ring.
    static size_t submit(IoRing& ring) {
        size_t taken = 0;
        while (ring.pending() > 0) {
            const int result = ring.enter();
            if (result == -EINTR) continue;
            if (result <= 0) break;
            taken += static_cast<size_t>(result);
        }
        ring.withdraw();
        return taken;
    }

  protected:
    static constexpr int64_t ns_per_second = 1'000'000'000;
    static constexpr int64_t ns_per_millisecond = 1'000'000;

    static int result(int returned) { return returned < 0 ? -errno : returned; }

    template <typename Call>
    static int64_t retried(Call call) {
        while (true) {
            const int64_t returned = call();
            if (returned >= 0) return returned;
            if (errno != EINTR) return -errno;
        }
    }

    // Takes the count of an eventfd or a timerfd. Nothing to take is success: it is clear.
    static int clear_counter(int fd) {
        uint64_t count = 0;
        const auto taken = retried([&] { return ::read(fd, &count, sizeof count); });
        return taken >= 0 || taken == -EAGAIN ? 0 : static_cast<int>(taken);
    }
};

}  // namespace millrace::net::sys
