#include "core/testing/memory_socket.h"
#include "core/testing/network_fixture.h"

#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

namespace millrace::testing {
namespace {

class Streams : public OnBothTransports {};

INSTANTIATE_TEST_SUITE_P(Both, Streams, ::testing::Values(Transport::memory, Transport::loopback),
                         transport_name);

// --- Connections
// ----------------------------------------------------------------------------------

TEST_P(Streams, CarriesBytesBothWays) {
    connect();
    client->send("ping");
    EXPECT_TRUE(comes([&] { return receive(fd) == "ping"; }));
    EXPECT_EQ(receive(fd), "error EAGAIN");
    EXPECT_EQ(send(fd, "pong"), 4);
    EXPECT_TRUE(comes([&] { return client->received() == "pong"; }));
    EXPECT_EQ(client->take_received(), "pong");
    EXPECT_EQ(client->received(), "");
}

TEST_P(Streams, ReceivesInPieces) {
    connect();
    client->send("abcdef");
    EXPECT_TRUE(comes([&] { return receive(fd, 2) == "ab"; }));
    EXPECT_EQ(receive(fd, 3), "cde");
    EXPECT_EQ(receive(fd, 3), "f");
}

TEST_P(Streams, GathersPieces) {
    connect();
    std::string first = "ab", second, third = "cde";
    const std::array pieces{iovec{first.data(), 2}, iovec{second.data(), 0},
                            iovec{third.data(), 3}};
    EXPECT_EQ(sys::send_gathered(fd, pieces.data(), pieces.size()), 5);
    EXPECT_TRUE(comes([&] { return client->received() == "abcde"; }));
}

TEST_P(Streams, SendsToSeveralSocketsTogether) {
    const auto ring = sys::open_send_ring();
    if (!ring) GTEST_SKIP() << "this container forbids io_uring";
    std::vector<Client> clients;
    std::vector<int> fds;
    for (int count = 0; count < 200; ++count) {  // more than a ring has entries
        clients.push_back(network.connect(host.port()));
        fds.push_back(host.accept());
    }
    const std::string text = "to all of them";
    std::vector<sys::Send> sends;
    for (const int one : fds)
        sends.push_back({one, text.data(), text.size()});
    sys::shutdown_send(fds[3]);
    sends[7].fd = -1;
    sends[9].bytes = 2;
    sys::send_each(*ring, sends);
    for (size_t index = 0; index < sends.size(); ++index) {
        const int64_t expected = index == 3   ? -EPIPE
                                 : index == 7 ? -EBADF
                                 : index == 9 ? 2
                                              : static_cast<int64_t>(text.size());
        EXPECT_EQ(sends[index].result, expected) << index;
    }
    EXPECT_TRUE(comes([&] { return clients.back().received() == text; }));
    EXPECT_TRUE(comes([&] { return clients[9].received() == "to"; }));
    sys::send_each(*ring, {});
}

TEST_P(Streams, SendsTogetherOnlyWhatFits) {
    const auto ring = sys::open_send_ring();
    if (!ring) GTEST_SKIP() << "this container forbids io_uring";
    connect({.buffer_bytes = 4096});
    client->read_automatically(false);
    const std::string much(8 * 1024 * 1024, 'x');
    size_t sent = 0;
    std::array<sys::Send, 1> sends;
    do {
        sends[0] = {fd, much.data(), much.size()};
        sys::send_each(*ring, sends);
        if (sends[0].result > 0) sent += static_cast<size_t>(sends[0].result);
        network.settle([] {});
    } while (sends[0].result >= 0);
    EXPECT_EQ(sends[0].result, -EAGAIN);
    EXPECT_GE(sent, 4096u);
    client->read_automatically(true);
    EXPECT_TRUE(comes([&] { return client->received().size() == sent; }));
}

TEST_P(Streams, RefusesWhereNobodyListens) {
    const uint16_t port = host.port();
    sys::close(host.listener);
    EXPECT_FALSE(network.connect(port).is_connected());
    host.listener = sys::stream_socket(AF_INET);
    EXPECT_FALSE(network.connect(port).is_connected());
}

TEST_P(Streams, AcceptsInOrderThenWouldBlock) {
    EXPECT_EQ(host.accept(), -EAGAIN);
    Client first = network.connect(host.port());
    Client second = network.connect(host.port());
    const int one = host.accept(), two = host.accept();
    ASSERT_GE(one, 0);
    ASSERT_GE(two, 0);
    EXPECT_EQ(host.accept(), -EAGAIN);
    send(one, "1");
    send(two, "2");
    EXPECT_TRUE(comes([&] { return first.received() == "1" && second.received() == "2"; }));
}

TEST_P(Streams, KnowsAddressesOfBothEnds) {
    connect();
    sockaddr_in local{}, peer{};
    uint32_t local_bytes = sizeof local, peer_bytes = sizeof peer;
    EXPECT_EQ(sys::local_address(fd, Host::as_sockaddr(local), &local_bytes), 0);
    EXPECT_EQ(sys::peer_address(fd, Host::as_sockaddr(peer), &peer_bytes), 0);
    EXPECT_EQ(ntohs(local.sin_port), host.port());
    EXPECT_EQ(local.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    EXPECT_EQ(peer.sin_family, AF_INET);
    EXPECT_EQ(peer.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    EXPECT_NE(peer.sin_port, local.sin_port);
    EXPECT_EQ(sys::peer_address(host.listener, Host::as_sockaddr(peer), &peer_bytes), -ENOTCONN);
}

TEST_P(Streams, DualStackListenersSeeMappedAddresses) {
    const int listener = sys::stream_socket(AF_INET6);
    ASSERT_EQ(sys::set_option(listener, IPPROTO_IPV6, IPV6_V6ONLY, 0), 0);
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    uint32_t bytes = sizeof address;
    ASSERT_EQ(sys::bind(listener, generic, bytes), 0);
    ASSERT_EQ(sys::listen(listener, 1), 0);
    ASSERT_EQ(sys::local_address(listener, generic, &bytes), 0);
    Client far = network.connect(ntohs(address.sin6_port));
    const int accepted = sys::accept(listener);
    ASSERT_GE(accepted, 0);
    ASSERT_EQ(sys::peer_address(accepted, generic, &bytes), 0);
    EXPECT_EQ(address.sin6_family, AF_INET6);
    EXPECT_TRUE(IN6_IS_ADDR_V4MAPPED(&address.sin6_addr));
    sys::close(accepted);
    sys::close(listener);
}

TEST_P(Streams, PortsAreExclusiveUnlessBothShare) {
    sockaddr_in address{};
    uint32_t bytes = sizeof address;
    sys::local_address(host.listener, Host::as_sockaddr(address), &bytes);
    const int second = sys::stream_socket(AF_INET);
    ASSERT_EQ(sys::set_option(second, SOL_SOCKET, SO_REUSEADDR, 1), 0);
    EXPECT_EQ(sys::bind(second, Host::as_sockaddr(address), bytes), -EADDRINUSE);
    ASSERT_EQ(sys::set_option(second, SOL_SOCKET, SO_REUSEPORT, 1), 0);
    EXPECT_EQ(sys::bind(second, Host::as_sockaddr(address), bytes), -EADDRINUSE);
    sys::close(second);

    std::array<int, 2> sharers;
    address.sin_port = 0;
    for (int& sharer : sharers) {
        sharer = sys::stream_socket(AF_INET);
        ASSERT_EQ(sys::set_option(sharer, SOL_SOCKET, SO_REUSEPORT, 1), 0);
        EXPECT_EQ(sys::bind(sharer, Host::as_sockaddr(address), bytes), 0);
        EXPECT_EQ(sys::listen(sharer, 1), 0);
        sys::local_address(sharer, Host::as_sockaddr(address), &bytes);
    }
    for (const int sharer : sharers)
        sys::close(sharer);
}

TEST_P(Streams, UnixSocketsConnectByPath) {
    const std::string path = "/tmp/millrace_network_test_" + std::to_string(getpid());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    ::unlink(path.c_str());
    EXPECT_FALSE(network.connect_unix(path).is_connected());
    const int listener = sys::stream_socket(AF_UNIX);
    ASSERT_EQ(sys::bind(listener, generic, sizeof address), 0);
    ASSERT_EQ(sys::listen(listener, 1), 0);
    Client far = network.connect_unix(path);
    ASSERT_TRUE(far.is_connected());
    const int accepted = sys::accept(listener);
    ASSERT_GE(accepted, 0);
    far.send("hi");
    EXPECT_TRUE(comes([&] { return receive(accepted) == "hi"; }));
    sys::close(accepted);
    sys::close(listener);
    ::unlink(path.c_str());
}

// --- How connections end
// --------------------------------------------------------------------------

TEST_P(Streams, HalfCloseEndsOneDirection) {
    connect();
    client->send("last");
    client->half_close();
    EXPECT_TRUE(comes([&] { return receive(fd) == "last"; }));
    EXPECT_TRUE(comes([&] { return receive(fd) == ""; }));
    EXPECT_EQ(receive(fd), "");
    EXPECT_EQ(send(fd, "answer"), 6);
    EXPECT_TRUE(comes([&] { return client->received() == "answer"; }));
    EXPECT_FALSE(client->has_ended());
    EXPECT_EQ(sys::shutdown_send(fd), 0);
    EXPECT_TRUE(comes([&] { return client->has_ended(); }));
    EXPECT_FALSE(client->was_reset());
}

TEST_P(Streams, NothingCanBeSentAfterShutdown) {
    connect();
    EXPECT_EQ(sys::shutdown_send(fd), 0);
    EXPECT_EQ(send(fd, "x"), -EPIPE);
    client->send("still");
    EXPECT_TRUE(comes([&] { return receive(fd) == "still"; }));
}

TEST_P(Streams, ResetIsReportedOnceThenTheEnd) {
    connect();
    client->reset();
    EXPECT_TRUE(comes([&] { return receive(fd) == "error ECONNRESET"; }));
    EXPECT_EQ(receive(fd), "");
    EXPECT_EQ(send(fd, "x"), -EPIPE);
    EXPECT_EQ(sys::shutdown_send(fd), -ENOTCONN);
    sockaddr_in peer{};
    uint32_t bytes = sizeof peer;
    EXPECT_EQ(sys::peer_address(fd, Host::as_sockaddr(peer), &bytes), -ENOTCONN);
}

TEST_P(Streams, SendingFindsTheReset) {
    connect();
    client->reset();
    EXPECT_TRUE(comes([&] { return send(fd, "x") == -ECONNRESET; }));
    EXPECT_EQ(send(fd, "x"), -EPIPE);
}

TEST_P(Streams, BytesThatCameBeforeAResetCanBeRead) {
    connect();
    host.watch(fd, every_edge);
    client->send("early");
    EXPECT_TRUE(becomes_ready(EPOLLIN));
    client->reset();
    EXPECT_TRUE(becomes_ready(EPOLLHUP));
    EXPECT_EQ(receive(fd), "early");
    EXPECT_EQ(receive(fd), "error ECONNRESET");
}

TEST_P(Streams, ClosingWithUnreadBytesResetsThePeer) {
    connect();
    host.watch(fd, every_edge);
    client->send("never read");
    EXPECT_TRUE(becomes_ready(EPOLLIN));
    host.close(fd);
    EXPECT_TRUE(comes([&] { return client->was_reset(); }));
}

TEST_P(Streams, ClosingInPeaceEndsThePeer) {
    connect();
    EXPECT_EQ(send(fd, "bye"), 3);
    host.close(fd);
    EXPECT_TRUE(comes([&] { return client->has_ended(); }));
    EXPECT_EQ(client->received(), "bye");
    EXPECT_FALSE(client->was_reset());
}

TEST_P(Streams, SendingToAClosedPeerIsAnsweredWithAReset) {
    connect();
    client->close();
    EXPECT_TRUE(comes([&] { return receive(fd) == ""; }));
    EXPECT_EQ(send(fd, "into the void"), 13);
    EXPECT_TRUE(comes([&] { return send(fd, "again") == -EPIPE; }));
}

TEST_P(Streams, ClosingTheListenerResetsThoseInLine) {
    Client waiting = network.connect(host.port());
    ASSERT_TRUE(waiting.is_connected());
    EXPECT_EQ(sys::close(host.listener), 0);
    EXPECT_TRUE(comes([&] { return waiting.was_reset(); }));
    host.listener = sys::stream_socket(AF_INET);
}

TEST_P(Streams, ADroppedClientCloses) {
    connect();
    client.reset();
    EXPECT_TRUE(comes([&] { return receive(fd) == ""; }));
}

TEST_P(Streams, CallsOnTheWrongDescriptorFail) {
    connect();
    const int closed = fd;
    host.close(fd);
    EXPECT_EQ(receive(closed), "error EBADF");
    EXPECT_EQ(send(closed, "x"), -EBADF);
    EXPECT_EQ(sys::close(closed), -EBADF);
    EXPECT_EQ(sys::shutdown_send(closed), -EBADF);
    EXPECT_EQ(sys::accept(closed), -EBADF);
    EXPECT_EQ(sys::set_option(closed, SOL_SOCKET, SO_REUSEADDR, 1), -EBADF);
    EXPECT_EQ(receive(host.listener), "error ENOTCONN");
    EXPECT_EQ(receive(host.epoll), "error ENOTSOCK");
    EXPECT_EQ(sys::epoll_add(host.epoll, closed, EPOLLIN, nullptr), -EBADF);
    EXPECT_EQ(sys::epoll_remove(host.epoll, host.listener), -ENOENT);
}

// --- Bounded buffers
// ------------------------------------------------------------------------------

TEST_P(Streams, ASlowReaderBlocksTheSenderUntilItReads) {
    client.emplace(network.connect(host.port(), {.buffer_bytes = 4096}));
    fd = host.accept();
    ASSERT_GE(fd, 0);
    host.watch(fd, every_edge);
    EXPECT_EQ(host.ready(fd), EPOLLOUT);
    client->read_automatically(false);
    const std::string piece(4096, 'x');
    size_t sent = 0;
    // The kernel may move bytes from its send buffer into the receive buffer meanwhile.
    const auto fill = [&] {
        int64_t count;
        while ((count = send(fd, piece)) > 0)
            sent += static_cast<size_t>(count);
        EXPECT_EQ(count, -EAGAIN);
    };
    fill();
    while (network.settle([] {}), (host.ready(fd) & EPOLLOUT) != 0)
        fill();
    EXPECT_GE(sent, 4096u);
    EXPECT_EQ(host.ready(fd), 0u);

    client->read_automatically(true);
    EXPECT_TRUE(becomes_ready(EPOLLOUT));
    EXPECT_TRUE(comes([&] { return client->received().size() == sent; }));
}

TEST_P(Streams, TheClientSendsWhatDoesNotFitLater) {
    connect();
    const std::string much(8 * 1024 * 1024, 'y');
    client->send(much);
    EXPECT_GT(client->unsent_bytes(), 0u);
    client->half_close();
    std::string received, piece;
    EXPECT_TRUE(network.settle_until(
        [&] {
            while (!(piece = receive(fd, 100'000)).empty() && !piece.starts_with("error"))
                received += piece;
        },
        [&] { return piece.empty() && received.size() == much.size(); }));
    EXPECT_EQ(client->unsent_bytes(), 0u);
    EXPECT_TRUE(received == much);
}

}  // namespace
}  // namespace millrace::testing
