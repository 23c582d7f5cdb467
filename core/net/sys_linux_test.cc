#include "core/net/sys_linux_calls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/un.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Behaviour that both transports share is tested in core/testing. Here: what concerns the real
// kernel only, flags and signals above all.
namespace millrace::net::sys {
namespace {

bool is_non_blocking_and_close_on_exec(int fd) {
    return (::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0 && (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
}

// Connected stream sockets without a network; [0] blocks so that a signal can interrupt it.
struct BlockingPair {
    std::array<int, 2> fds{-1, -1};
    BlockingPair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()), 0); }
    ~BlockingPair() {
        for (const int fd : fds)
            LinuxCalls::close(fd);
    }
};

// Lets another thread interrupt this one with a signal whose handler does nothing.
class Interrupter {
  public:
    Interrupter() : target_(pthread_self()) {
        struct sigaction action {};
        action.sa_handler = [](int) { ++signals_seen; };
        EXPECT_EQ(::sigaction(SIGUSR1, &action, &before_), 0);  // no SA_RESTART
        signals_seen = 0;
    }
    ~Interrupter() { ::sigaction(SIGUSR1, &before_, nullptr); }

    void interrupt() const {
        pthread_kill(target_, SIGUSR1);
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }

    // Three signals, then `finish`, from another thread.
    template <typename Finish>
    std::thread interrupt_and(Finish finish) const {
        return std::thread([this, finish] {
            while (signals_seen < 3)
                interrupt();
            finish();
        });
    }

    static inline std::atomic<int> signals_seen = 0;

  private:
    pthread_t target_;
    struct sigaction before_ {};
};

TEST(SysLinux, DescriptorsAreNonBlockingAndCloseOnExec) {
    const int epoll = LinuxCalls::epoll_create();
    ASSERT_GE(epoll, 0);
    EXPECT_NE(::fcntl(epoll, F_GETFD) & FD_CLOEXEC, 0);
    LinuxCalls::close(epoll);
    for (const int fd : {LinuxCalls::eventfd(), LinuxCalls::timerfd(),
                         LinuxCalls::stream_socket(AF_INET), LinuxCalls::stream_socket(AF_UNIX)}) {
        ASSERT_GE(fd, 0);
        EXPECT_TRUE(is_non_blocking_and_close_on_exec(fd));
        EXPECT_EQ(LinuxCalls::close(fd), 0);
    }
}

TEST(SysLinux, AcceptedSocketsAreNonBlockingAndCloseOnExec) {
    const int listener = LinuxCalls::stream_socket(AF_INET);
    ASSERT_EQ(LinuxCalls::listen(listener, 1), 0);
    sockaddr_in address{};
    uint32_t bytes = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    ASSERT_EQ(LinuxCalls::local_address(listener, generic, &bytes), 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(LinuxCalls::accept(listener), -EAGAIN);
    const int client = ::socket(AF_INET, SOCK_STREAM, 0);
    ASSERT_EQ(::connect(client, generic, sizeof address), 0);
    const int accepted = LinuxCalls::accept(listener);
    ASSERT_GE(accepted, 0);
    EXPECT_TRUE(is_non_blocking_and_close_on_exec(accepted));
    for (const int fd : {accepted, client, listener})
        LinuxCalls::close(fd);
}

TEST(SysLinux, ErrorsAreNegatedErrnos) {
    constexpr int no_fd = -1;
    char byte = 0;
    const iovec piece{&byte, 1};
    EXPECT_EQ(LinuxCalls::receive(no_fd, &byte, 1), -EBADF);
    EXPECT_EQ(LinuxCalls::send(no_fd, &byte, 1), -EBADF);
    EXPECT_EQ(LinuxCalls::send_gathered(no_fd, &piece, 1), -EBADF);
    EXPECT_EQ(LinuxCalls::accept(no_fd), -EBADF);
    EXPECT_EQ(LinuxCalls::close(no_fd), -EBADF);
    EXPECT_EQ(LinuxCalls::shutdown_send(no_fd), -EBADF);
    EXPECT_EQ(LinuxCalls::listen(no_fd, 1), -EBADF);
    EXPECT_EQ(LinuxCalls::eventfd_signal(no_fd), -EBADF);
    EXPECT_EQ(LinuxCalls::eventfd_clear(no_fd), -EBADF);
    EXPECT_EQ(LinuxCalls::timerfd_arm(no_fd, 1), -EBADF);
    EXPECT_EQ(LinuxCalls::epoll_add(no_fd, 0, 0, nullptr), -EBADF);
    EXPECT_EQ(LinuxCalls::epoll_remove(no_fd, 0), -EBADF);
    EXPECT_EQ(LinuxCalls::stream_socket(AF_MAX + 1), -EAFNOSUPPORT);
}

TEST(SysLinux, SendingToAGonePeerRaisesNoSignal) {
    BlockingPair pair;
    LinuxCalls::close(std::exchange(pair.fds[1], -1));
    char byte = 0;
    const iovec piece{&byte, 1};
    EXPECT_EQ(LinuxCalls::send(pair.fds[0], &byte, 1), -EPIPE);
    EXPECT_EQ(LinuxCalls::send_gathered(pair.fds[0], &piece, 1), -EPIPE);
}

// A program may close a descriptor that is not its own. The bytes leave all the same.
TEST(SysLinux, ARingThatWasClosedBehindItsBackIsDoneWithout) {
    BlockingPair pair;
    const int lowest = ::dup(pair.fds[0]);
    ::close(lowest);
    const auto ring = LinuxCalls::open_send_ring();
    if (!ring) GTEST_SKIP() << "this container forbids io_uring";
    ASSERT_EQ(::close(lowest), 0);
    std::array<Send, 2> sends{Send{pair.fds[0], "ab", 2}, Send{pair.fds[1], "c", 1}};
    LinuxCalls::send_each(*ring, sends);
    EXPECT_EQ(sends[0].result, 2);
    EXPECT_EQ(sends[1].result, 1);
    // Now the number is a socket's.
    ASSERT_EQ(::dup2(pair.fds[0], lowest), lowest);
    LinuxCalls::send_each(*ring, sends);
    EXPECT_EQ(sends[0].result, 2);
    char received[8];
    EXPECT_EQ(LinuxCalls::receive(pair.fds[1], received, sizeof received), 4);
}

TEST(SysLinux, MorePiecesThanTheKernelTakesAreSentInPart) {
    BlockingPair pair;
    std::string letters(IOV_MAX + 10, 'x');
    std::vector<iovec> pieces;
    for (char& letter : letters)
        pieces.push_back({&letter, 1});
    EXPECT_EQ(LinuxCalls::send_gathered(pair.fds[0], pieces.data(), pieces.size()), IOV_MAX);
}

TEST(SysLinux, AFullEventfdIsStillSignalled) {
    const int fd = LinuxCalls::eventfd();
    const uint64_t almost_full = UINT64_MAX - 1;
    ASSERT_EQ(::write(fd, &almost_full, sizeof almost_full), 8);
    EXPECT_EQ(LinuxCalls::eventfd_signal(fd), 0);
    EXPECT_EQ(LinuxCalls::eventfd_clear(fd), 0);
    EXPECT_EQ(LinuxCalls::eventfd_clear(fd), 0);
    LinuxCalls::close(fd);
}

TEST(SysLinux, InterruptedReceiveIsTakenUpAgain) {
    BlockingPair pair;
    Interrupter interrupter;
    auto helper = interrupter.interrupt_and([&] { LinuxCalls::send(pair.fds[1], "a", 1); });
    char byte = 0;
    EXPECT_EQ(LinuxCalls::receive(pair.fds[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'a');
    EXPECT_GE(Interrupter::signals_seen, 3);
    helper.join();
}

TEST(SysLinux, InterruptedWaitWithoutLimitIsTakenUpAgain) {
    const int epoll = LinuxCalls::epoll_create(), event = LinuxCalls::eventfd();
    ASSERT_EQ(LinuxCalls::epoll_add(epoll, event, EPOLLIN, nullptr), 0);
    Interrupter interrupter;
    auto helper = interrupter.interrupt_and([&] { LinuxCalls::eventfd_signal(event); });
    epoll_event ready{};
    EXPECT_EQ(LinuxCalls::epoll_wait(epoll, &ready, 1, -1), 1);
    EXPECT_EQ(ready.events, static_cast<uint32_t>(EPOLLIN));
    helper.join();
    LinuxCalls::close(event);
    LinuxCalls::close(epoll);
}

TEST(SysLinux, InterruptedWaitStillEndsInTime) {
    const int epoll = LinuxCalls::epoll_create();
    Interrupter interrupter;
    std::atomic<bool> is_over = false;
    // Signals come far more often than the wait is long: restarted in full it would never end.
    std::thread helper([&] {
        while (!is_over)
            interrupter.interrupt();
    });
    epoll_event ready{};
    EXPECT_EQ(LinuxCalls::epoll_wait(epoll, &ready, 1, 30), 0);
    is_over = true;
    helper.join();
    LinuxCalls::close(epoll);
}

TEST(SysLinux, ClocksRun) {
    const int64_t first = LinuxCalls::monotonic_ns();
    EXPECT_GT(first, 0);
    EXPECT_GE(LinuxCalls::monotonic_ns(), first);
    EXPECT_GT(LinuxCalls::unix_seconds(), 1'700'000'000);
}

TEST(SysLinux, TimersFireAtAPointInTime) {
    const int epoll = LinuxCalls::epoll_create(), timer = LinuxCalls::timerfd();
    ASSERT_EQ(LinuxCalls::epoll_add(epoll, timer, EPOLLIN, nullptr), 0);
    const int64_t expiry_ns = LinuxCalls::monotonic_ns() + 5'000'000;
    ASSERT_EQ(LinuxCalls::timerfd_arm(timer, expiry_ns), 0);
    epoll_event ready{};
    EXPECT_EQ(LinuxCalls::epoll_wait(epoll, &ready, 1, -1), 1);
    EXPECT_GE(LinuxCalls::monotonic_ns(), expiry_ns);
    EXPECT_EQ(LinuxCalls::timerfd_clear(timer), 0);
    EXPECT_EQ(LinuxCalls::epoll_wait(epoll, &ready, 1, 0), 0);
    LinuxCalls::close(timer);
    LinuxCalls::close(epoll);
}

}  // namespace
}  // namespace millrace::net::sys
