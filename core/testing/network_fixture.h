// What tests of the network itself run on: the bare minimum of a server on sys.h.
#pragma once

#include "core/net/sys.h"
#include "core/testing/network.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::testing {

namespace sys = net::sys;

inline constexpr uint32_t every_edge = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

struct Host {
    int epoll = sys::epoll_create();
    int listener = -1;

    Host() {
        listener = sys::stream_socket(AF_INET);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(sys::bind(listener, as_sockaddr(address), sizeof address), 0);
        EXPECT_EQ(sys::listen(listener, 16), 0);
    }

    ~Host() {
        for (const int fd : accepted)
            sys::close(fd);
        sys::close(listener);
        sys::close(epoll);
    }

    static sockaddr* as_sockaddr(sockaddr_in& address) {
        return reinterpret_cast<sockaddr*>(&address);
    }

    uint16_t port() const {
        sockaddr_in address{};
        uint32_t bytes = sizeof address;
        EXPECT_EQ(sys::local_address(listener, as_sockaddr(address), &bytes), 0);
        EXPECT_EQ(bytes, sizeof address);
        return ntohs(address.sin_port);
    }

    int accept() {
        const int fd = sys::accept(listener);
        if (fd >= 0) accepted.push_back(fd);
        return fd;
    }

    void close(int fd) {
        std::erase(accepted, fd);
        EXPECT_EQ(sys::close(fd), 0);
    }

    void watch(int fd, uint32_t events) {
        EXPECT_EQ(sys::epoll_add(epoll, fd, events, tag(fd)), 0);
    }

    static void* tag(int fd) { return reinterpret_cast<void*>(static_cast<intptr_t>(fd)); }

    // Bits that one wait reports for `fd`.
    uint32_t ready(int fd) {
        std::array<epoll_event, 8> events;
        const int count = sys::epoll_wait(epoll, events.data(), events.size(), 0);
        EXPECT_GE(count, 0);
        uint32_t bits = 0;
        for (int index = 0; index < count; ++index)
            if (events[static_cast<size_t>(index)].data.ptr == tag(fd))
                bits |= events[static_cast<size_t>(index)].events;
        return bits;
    }

    std::vector<int> accepted;
};

inline std::string receive(int fd, size_t bytes_max = 4096) {
    std::string text(bytes_max, '?');
    const int64_t count = sys::receive(fd, text.data(), text.size());
    if (count < 0) return std::string{"error "} + strerrorname_np(static_cast<int>(-count));
    text.resize(static_cast<size_t>(count));
    return text;
}

inline int64_t send(int fd, std::string_view bytes) {
    return sys::send(fd, bytes.data(), bytes.size());
}

class OnBothTransports : public ::testing::TestWithParam<Transport> {
  protected:
    void connect(ConnectOptions options = {}) {
        client.emplace(network.connect(host.port(), options));
        ASSERT_TRUE(client->is_connected());
        fd = host.accept();
        ASSERT_GE(fd, 0);
    }

    // Both kernels deliver at once, but the real one makes no promise.
    bool comes(const std::function<bool()>& condition) {
        return network.settle_until([] {}, condition);
    }
    bool becomes_ready(uint32_t events) {
        uint32_t seen = 0;
        return comes([&] { return ((seen |= host.ready(fd)) & events) == events; });
    }

    TestNetwork network{GetParam()};
    Host host;
    std::optional<Client> client;
    int fd = -1;
};

inline auto transport_name = [](const auto& info) { return std::string{name_of(info.param)}; };

}  // namespace millrace::testing
