#include "core/testing/far_end.h"

#include "core/net/sys_linux_calls.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <utility>

namespace millrace::testing {

namespace {

using net::sys::LinuxCalls;

class MemoryFarEnd : public FarEnd {
  public:
    explicit MemoryFarEnd(std::shared_ptr<MemoryStream> stream) : stream_(std::move(stream)) {}
    ~MemoryFarEnd() override { close(); }

    int64_t send(std::string_view bytes) override { return stream_->send(bytes); }
    int64_t receive(char* into, size_t bytes_max) override {
        return stream_->receive(into, bytes_max);
    }
    void finish() override { stream_->shutdown_send(); }
    void close() override { stream_->on_close(); }
    void reset() override { stream_->reset(); }

  private:
    std::shared_ptr<MemoryStream> stream_;
};

class LoopbackFarEnd : public FarEnd {
  public:
    explicit LoopbackFarEnd(int fd) : fd_(fd) {}
    ~LoopbackFarEnd() override { close(); }

    int64_t send(std::string_view bytes) override {
        return LinuxCalls::send(fd_, bytes.data(), bytes.size());
    }
    int64_t receive(char* into, size_t bytes_max) override {
        return LinuxCalls::receive(fd_, into, bytes_max);
    }
    void finish() override { LinuxCalls::shutdown_send(fd_); }
    void close() override {
        if (fd_ >= 0) LinuxCalls::close(std::exchange(fd_, -1));
    }
    void reset() override {
        const linger abort_on_close{.l_onoff = 1, .l_linger = 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &abort_on_close, sizeof abort_on_close);
        close();
    }

  private:
    int fd_;
};

// Waits for a connection under way: with a full backlog the kernel keeps trying.
int wait_connected(int fd) {
    constexpr int connect_timeout_ms = 10'000;
    pollfd waiting{.fd = fd, .events = POLLOUT, .revents = 0};
    if (::poll(&waiting, 1, connect_timeout_ms) != 1) return -ETIMEDOUT;
    int error = 0;
    socklen_t error_bytes = sizeof error;
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_bytes);
    return -error;
}

template <typename Address>
std::unique_ptr<FarEnd> connect_to(int family, const Address& address, size_t buffer_bytes) {
    const int fd = LinuxCalls::stream_socket(family);
    if (fd < 0) return nullptr;
    LinuxCalls::set_option(fd, SOL_SOCKET, SO_RCVBUF, static_cast<int>(buffer_bytes));
    if (family == AF_INET) LinuxCalls::set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    int connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    if (connected < 0) connected = errno == EINPROGRESS ? wait_connected(fd) : -errno;
    if (connected >= 0) return std::make_unique<LoopbackFarEnd>(fd);
    LinuxCalls::close(fd);
    return nullptr;
}

}  // namespace

std::unique_ptr<FarEnd> memory_far_end(std::shared_ptr<MemoryStream> stream) {
    if (stream == nullptr) return nullptr;
    return std::make_unique<MemoryFarEnd>(std::move(stream));
}

std::unique_ptr<FarEnd> loopback_far_end(uint16_t port, size_t buffer_bytes) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect_to(AF_INET, address, buffer_bytes);
}

std::unique_ptr<FarEnd> loopback_far_end_unix(std::string_view path, size_t buffer_bytes) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return connect_to(AF_UNIX, address, buffer_bytes);
}

}  // namespace millrace::testing
