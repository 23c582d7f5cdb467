#include "core/net/listener.h"

#include "core/net/sys.h"
#include "core/testing/network.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

namespace millrace::net {
namespace {

using testing::Call;
using testing::Client;
using testing::TestNetwork;
using testing::Transport;

class ListenerTest : public ::testing::TestWithParam<Transport> {
  protected:
    TestNetwork network{GetParam()};
    EventLoop loop;
    std::vector<int> accepted;
    int error = 0;

    ~ListenerTest() override {
        for (const int fd : accepted)
            sys::close(fd);
    }

    std::unique_ptr<Listener> open(const ListenOptions& options) {
        return Listener::open(
            loop, options, [this](int fd) { accepted.push_back(fd); }, error);
    }
    std::unique_ptr<Listener> open_local() { return open({.host = "127.0.0.1"}); }
    static uint16_t port_of(const Listener& listener) {
        return static_cast<uint16_t>(listener.local_port());
    }
    bool accepts(size_t count) {
        return network.settle_until([&] { return loop.turn(0); },
                                    [&] { return accepted.size() == count; });
    }
};

INSTANTIATE_TEST_SUITE_P(Both, ListenerTest,
                         ::testing::Values(Transport::memory, Transport::loopback),
                         [](const auto& one) { return std::string{name_of(one.param)}; });

TEST_P(ListenerTest, TheKernelChoosesThePort) {
    const auto first = open_local(), second = open_local();
    ASSERT_TRUE(first && second);
    EXPECT_GT(first->local_port(), 0);
    EXPECT_NE(first->local_port(), second->local_port());
    Client client = network.connect(port_of(*first));
    EXPECT_TRUE(accepts(1));
    EXPECT_TRUE(client.is_connected());
}

TEST_P(ListenerTest, ManyConnectionsAreTakenOverSeveralTurns) {
    const auto listener = open_local();
    std::vector<Client> clients;
    for (int count = 0; count < 300; ++count)
        clients.push_back(network.connect(port_of(*listener)));
    EXPECT_TRUE(loop.turn(0));  // more is left
    EXPECT_LT(accepted.size(), 300u);
    EXPECT_TRUE(accepts(300));
}

TEST_P(ListenerTest, ExclusivePortsAreExclusive) {
    const auto first = open_local();
    EXPECT_EQ(open({.host = "127.0.0.1", .port = port_of(*first)}), nullptr);
    EXPECT_EQ(error, -EADDRINUSE);
    EXPECT_EQ(open({.host = "127.0.0.1", .port = port_of(*first), .sharing = PortSharing::shared}),
              nullptr);
    EXPECT_EQ(error, -EADDRINUSE);
}

TEST_P(ListenerTest, SharedPortsAreShared) {
    const auto first = open({.host = "127.0.0.1", .sharing = PortSharing::shared});
    ASSERT_TRUE(first);
    const auto second =
        open({.host = "127.0.0.1", .port = port_of(*first), .sharing = PortSharing::shared});
    ASSERT_TRUE(second);
    EXPECT_EQ(open({.host = "127.0.0.1", .port = port_of(*first)}), nullptr);
    std::vector<Client> clients;
    for (int count = 0; count < 10; ++count)
        clients.push_back(network.connect(port_of(*first)));
    EXPECT_TRUE(accepts(10));
}

TEST_P(ListenerTest, AnEmptyHostServesBothFamilies) {
    const auto listener = open({});
    ASSERT_TRUE(listener);
    Client client = network.connect(port_of(*listener));  // to 127.0.0.1
    EXPECT_TRUE(client.is_connected());
    EXPECT_TRUE(accepts(1));
}

TEST_P(ListenerTest, WithoutIpv6AnEmptyHostIsIpv4) {
    network.faults().fail({.call = Call::create, .error = EAFNOSUPPORT});
    const auto listener = open({});
    ASSERT_TRUE(listener);
    Client client = network.connect(port_of(*listener));
    EXPECT_TRUE(accepts(1));
}

TEST_P(ListenerTest, UnknownHostsAreRefused) {
    EXPECT_EQ(open({.host = "no such host"}), nullptr);
    EXPECT_EQ(error, -EADDRNOTAVAIL);
}

TEST_P(ListenerTest, FailuresLeaveNothingBehind) {
    const size_t before = network.open_descriptors();
    for (uint64_t step = 1; step < 20; ++step) {
        network.faults() = {};
        network.faults().fail_at(step, EACCES);
        const auto listener = open_local();
        if (network.faults().triggered() == 0) {
            EXPECT_GT(step, 5u);
            EXPECT_TRUE(listener);
            return;
        }
        EXPECT_EQ(listener, nullptr);
        EXPECT_EQ(error, -EACCES);
        EXPECT_EQ(network.open_descriptors(), before);
    }
    FAIL() << "never gets through";
}

TEST_P(ListenerTest, RunningOutOfDescriptorsIsTriedAgain) {
    const auto listener = open_local();
    network.settle([&] { return loop.turn(0); });
    network.faults().fail({.call = Call::accept, .count = 3, .error = EMFILE});
    Client client = network.connect(port_of(*listener));
    for (int round = 0; round < 100 && accepted.empty(); ++round) {
        network.advance_ms(33);
        loop.turn(0);
        if (GetParam() == Transport::memory && round < 9) {
            EXPECT_TRUE(accepted.empty());
        }
    }
    EXPECT_EQ(accepted.size(), 1u);
    EXPECT_EQ(network.faults().triggered(), 3u);
}

TEST_P(ListenerTest, OneBadConnectionDoesNotStopTheOthers) {
    const auto listener = open_local();
    network.settle([&] { return loop.turn(0); });
    network.faults().fail({.call = Call::accept, .count = 5, .error = ECONNABORTED});
    Client client = network.connect(port_of(*listener));
    EXPECT_TRUE(accepts(1));
}

TEST_P(ListenerTest, ClosedFromItsOwnCallback) {
    std::unique_ptr<Listener> listener;
    int calls = 0;
    listener = Listener::open(
        loop, {.host = "127.0.0.1"},
        [&](int fd) {
            accepted.push_back(fd);
            ++calls;
            listener->close();
            loop.dispose(std::move(listener));
        },
        error);
    const uint16_t port = port_of(*listener);
    Client first = network.connect(port), second = network.connect(port);
    EXPECT_TRUE(accepts(1));
    network.settle([&] { return loop.turn(0); });
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(listener, nullptr);
    EXPECT_FALSE(network.connect(port).is_connected());
}

TEST_P(ListenerTest, CloseIsIdempotent) {
    const auto listener = open_local();
    network.faults().fail({.call = Call::accept, .error = EMFILE});
    Client client = network.connect(port_of(*listener));
    network.settle([&] { return loop.turn(0); });
    EXPECT_TRUE(listener->is_open());
    listener->close();
    listener->close();
    EXPECT_FALSE(listener->is_open());
    EXPECT_EQ(listener->local_port(), -1);
    EXPECT_EQ(loop.armed_timer_count(), 0u);
}

TEST(Address, AsText) {
    EXPECT_EQ(ip_text({"\x7f\0\0\1", 4}), "127.0.0.1");
    EXPECT_EQ(ip_text({"\xff\xfe\x0a\0", 4}), "255.254.10.0");
    EXPECT_EQ(ip_text({"\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\xab\xcd", 16}),
              "2001:0db8:0000:0000:0000:0000:0000:abcd");
    EXPECT_EQ(ip_text(""), "");
}

TEST(Address, WithoutAFamilyThereIsNothing) {
    const SocketAddress none;
    EXPECT_EQ(none.port(), -1);
    EXPECT_EQ(none.ip(), "");
}

TEST(Address, ResolvesForListening) {
    std::vector<SocketAddress> found;
    ASSERT_EQ(resolve_to_listen("", 80, found), 0);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].family(), AF_INET6);
    EXPECT_EQ(found[0].ip(), std::string(16, '\0'));
    EXPECT_EQ(found[1].family(), AF_INET);
    EXPECT_EQ(found[1].port(), 80);
    ASSERT_EQ(resolve_to_listen("::1", 8080, found), 0);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].port(), 8080);
    EXPECT_EQ(found[0].ip(), std::string(15, '\0') + '\1');
    EXPECT_EQ(resolve_to_listen("not a name", 1, found), -EADDRNOTAVAIL);
    EXPECT_TRUE(found.empty());
}

}  // namespace
}  // namespace millrace::net
