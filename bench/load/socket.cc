#include "bench/load/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cmath>

namespace millrace::load {
namespace {

// Closing an io_uring interrupts its thread once, some time later.
template <class Call>
auto uninterrupted(Call call) {
    while (true) {
        const auto result = call();
        if (result >= 0 || errno != EINTR) return result;
    }
}

bool connect_whole(int fd, const sockaddr_in& address) {
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    return uninterrupted([&] { return connect(fd, generic, sizeof address); }) == 0 ||
           errno == EISCONN;
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
    if (this != &other) {
        reset();
        fd_ = other.release();
    }
    return *this;
}

void Fd::reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
}

int Fd::release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
}

Fd connect_to(const Options& options) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options.port);
    if (inet_pton(AF_INET, options.host.c_str(), &address.sin_addr) != 1) return {};
    Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd.open()) return {};
    timeval timeout{};
    timeout.tv_sec = static_cast<time_t>(std::floor(options.timeout_s));
    timeout.tv_usec =
        static_cast<suseconds_t>((options.timeout_s - std::floor(options.timeout_s)) * 1e6);
    const int on = 1;
    setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!connect_whole(fd.get(), address)) return {};
    return fd;
}

void set_non_blocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

bool raise_descriptor_limit(uint64_t count) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= count) return true;
    limit.rlim_cur = count;
    if (limit.rlim_max < count) limit.rlim_max = count;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

ErrorKind ask_once(int fd, std::string_view request, ResponseParser& parser) {
    while (!request.empty()) {
        const ssize_t sent =
            uninterrupted([&] { return send(fd, request.data(), request.size(), MSG_NOSIGNAL); });
        if (sent <= 0) return ErrorKind::write;
        request.remove_prefix(static_cast<size_t>(sent));
    }
    std::array<char, 16 * 1024> buffer;
    while (true) {
        const ssize_t got =
            uninterrupted([&] { return recv(fd, buffer.data(), buffer.size(), 0); });
        if (got == 0) return ErrorKind::disconnect;
        if (got < 0) return errno == EAGAIN ? ErrorKind::timeout : ErrorKind::read;
        const auto step = parser.feed({buffer.data(), static_cast<size_t>(got)});
        if (step.verdict == ParseVerdict::rejected) return step.error;
        if (step.verdict == ParseVerdict::complete) {
            const bool surplus = step.consumed_bytes != static_cast<size_t>(got);
            return surplus ? ErrorKind::protocol : ErrorKind::none;
        }
    }
}

}  // namespace millrace::load
