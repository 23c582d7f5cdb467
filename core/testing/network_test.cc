#include "core/testing/network.h"

#include "core/testing/network_fixture.h"

namespace millrace::testing {
namespace {

class Network : public OnBothTransports {};

INSTANTIATE_TEST_SUITE_P(Both, Network, ::testing::Values(Transport::memory, Transport::loopback),
                         transport_name);

// --- Settling
// -------------------------------------------------------------------------------------

TEST_P(Network, SettlesOnceBothSidesAreQuiet) {
    connect();
    client->send("abc");
    int turns = 0;
    EXPECT_TRUE(network.settle([&] {
        ++turns;
        const std::string text = receive(fd);
        if (!text.starts_with("error")) send(fd, text + text);
    }));
    EXPECT_EQ(client->received(), "abcabc");
    EXPECT_LT(turns, 50);
}

TEST_P(Network, WorkThatIsLeftKeepsItGoing) {
    int turns = 0;
    EXPECT_TRUE(network.settle([&] { return ++turns < 100; }));
    EXPECT_GE(turns, 100);
}

TEST_P(Network, NetworksNest) {
    {
        TestNetwork inner{Transport::memory};
        const int event = sys::eventfd();
        EXPECT_EQ(inner.open_descriptors(), 1u);
        sys::close(event);
    }
    connect();
}

// --- What only the memory network promises
// --------------------------------------------------------

class OnMemory : public OnBothTransports {};

INSTANTIATE_TEST_SUITE_P(Only, OnMemory, ::testing::Values(Transport::memory), transport_name);

TEST_P(OnMemory, TheLowestFreeDescriptorIsUsedAgain) {
    connect();
    host.close(fd);
    Client next = network.connect(host.port());
    EXPECT_EQ(host.accept(), fd);
}

TEST_P(OnMemory, BuffersHoldExactlyWhatWasAskedFor) {
    client.emplace(network.connect(host.port(), {.buffer_bytes = 10}));
    fd = host.accept();
    client->read_automatically(false);
    EXPECT_EQ(send(fd, "0123456"), 7);
    EXPECT_EQ(send(fd, "789abc"), 3);
    EXPECT_EQ(send(fd, "abc"), -EAGAIN);
    EXPECT_EQ(client->read_some(4), 4u);
    EXPECT_EQ(send(fd, "abcdef"), 4);
    EXPECT_EQ(client->read_some(100), 10u);
    client->send("ABCDEFGHIJKLM");
    EXPECT_EQ(client->unsent_bytes(), 3u);
    EXPECT_EQ(receive(fd), "ABCDEFGHIJ");
    network.settle([] {});
    EXPECT_EQ(receive(fd), "KLM");
}

TEST_P(OnMemory, RoomIsReportedOnceAThirdIsFree) {
    client.emplace(network.connect(host.port(), {.buffer_bytes = 9}));
    fd = host.accept();
    host.watch(fd, every_edge);
    client->read_automatically(false);
    EXPECT_EQ(send(fd, "0123456789"), 9);
    EXPECT_EQ(host.ready(fd), 0u);
    client->read_some(2);
    EXPECT_EQ(host.ready(fd), 0u);
    client->read_some(1);
    EXPECT_EQ(host.ready(fd), EPOLLOUT);
}

TEST_P(OnMemory, AFullBacklogRefuses) {
    const int listener = sys::stream_socket(AF_INET);
    EXPECT_EQ(sys::listen(listener, 1), 0);  // binds to a port by itself
    sockaddr_in address{};
    uint32_t bytes = sizeof address;
    EXPECT_EQ(sys::local_address(listener, Host::as_sockaddr(address), &bytes), 0);
    const uint16_t port = ntohs(address.sin_port);
    Client first = network.connect(port), second = network.connect(port);
    EXPECT_TRUE(second.is_connected());  // Linux keeps one more than asked for
    EXPECT_FALSE(network.connect(port).is_connected());
    EXPECT_TRUE(sys::close(listener) == 0 && first.was_reset() && second.was_reset());
}

TEST_P(OnMemory, SharersOfAPortTakeTurns) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(8080);
    std::array<int, 2> sharers;
    for (int& sharer : sharers) {
        sharer = sys::stream_socket(AF_INET);
        sys::set_option(sharer, SOL_SOCKET, SO_REUSEPORT, 1);
        EXPECT_EQ(sys::bind(sharer, Host::as_sockaddr(address), sizeof address), 0);
        EXPECT_EQ(sys::listen(sharer, 8), 0);
    }
    Client first = network.connect(8080), second = network.connect(8080);
    for (const int sharer : sharers) {
        const int accepted = sys::accept(sharer);
        EXPECT_GE(accepted, 0);
        EXPECT_EQ(sys::accept(sharer), -EAGAIN);
        sys::close(accepted);
        sys::close(sharer);
    }
}

TEST_P(OnMemory, DescriptorsCanRunOut) {
    network.set_descriptors_max(3);
    connect();
    Client second = network.connect(host.port());
    EXPECT_EQ(host.accept(), -EMFILE);
    EXPECT_EQ(sys::eventfd(), -EMFILE);
    EXPECT_EQ(sys::stream_socket(AF_INET), -EMFILE);
    host.close(fd);
    EXPECT_GE(host.accept(), 0);
}

TEST_P(OnMemory, TheClockStandsStill) {
    const int64_t now = sys::monotonic_ns();
    network.settle([] {});
    EXPECT_EQ(sys::monotonic_ns(), now);
    network.advance_ms(1500);
    EXPECT_EQ(sys::monotonic_ns(), now + 1'500'000'000);
}

TEST_P(OnMemory, AnEpollCanWatchAnEpoll) {
    const int outer = sys::epoll_create();
    EXPECT_EQ(sys::epoll_add(outer, host.epoll, EPOLLIN, nullptr), 0);
    std::array<epoll_event, 1> events;
    EXPECT_EQ(sys::epoll_wait(outer, events.data(), 1, 0), 0);
    host.watch(host.listener, EPOLLIN);
    Client far = network.connect(host.port());
    EXPECT_EQ(sys::epoll_wait(outer, events.data(), 1, 0), 1);
    sys::close(outer);
}

TEST_P(OnMemory, RealDescriptorsMeanNothing) {
    EXPECT_EQ(sys::close(0), -EBADF);
    EXPECT_EQ(receive(0), "error EBADF");
}

TEST_P(OnMemory, AnEdgeWithoutEndDoesNotSettle) {
    const int event = sys::eventfd();
    host.watch(event, EPOLLIN);
    sys::eventfd_signal(event);
    EXPECT_FALSE(network.settle([&] { host.ready(event); }));
    sys::close(event);
}

}  // namespace
}  // namespace millrace::testing
