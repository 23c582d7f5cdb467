#include "core/testing/faults.h"

#include "core/testing/fail_at_each_step.h"
#include "core/testing/network_fixture.h"

#include <sys/uio.h>

namespace millrace::testing {
namespace {

class FaultInjection : public OnBothTransports {};

INSTANTIATE_TEST_SUITE_P(Both, FaultInjection,
                         ::testing::Values(Transport::memory, Transport::loopback), transport_name);

// --- Faults
// ---------------------------------------------------------------------------------------

TEST_P(FaultInjection, ExactlyTheNamedStepFails) {
    network.faults().fail_at(2, ENOBUFS);
    const int first = sys::eventfd();
    EXPECT_GE(first, 0);
    EXPECT_EQ(sys::eventfd(), -ENOBUFS);
    const int third = sys::eventfd();
    EXPECT_GE(third, 0);
    EXPECT_EQ(network.faults().triggered(), 1u);
    sys::close(first);
    sys::close(third);
}

TEST_P(FaultInjection, FaultsCanBeBoundToAKindOfCall) {
    network.faults().fail({.call = Call::accept, .step = 2, .count = 2, .error = EMFILE});
    std::vector<Client> clients;
    for (int count = 0; count < 2; ++count)
        clients.push_back(network.connect(host.port()));
    EXPECT_GE(host.accept(), 0);
    EXPECT_EQ(host.accept(), -EMFILE);
    EXPECT_EQ(host.accept(), -EMFILE);
    EXPECT_GE(host.accept(), 0);  // it stayed in line
    EXPECT_EQ(network.faults().steps(Call::accept), 4u);
}

TEST_P(FaultInjection, ForcedShortReadsAreFollowedByAnotherEdge) {
    connect();
    host.watch(fd, every_edge);
    client->send("abcde");
    EXPECT_TRUE(becomes_ready(EPOLLIN));
    network.faults().short_io_bytes(2);
    EXPECT_EQ(receive(fd), "ab");
    EXPECT_TRUE((host.ready(fd) & EPOLLIN) != 0);
    EXPECT_EQ(receive(fd), "cd");
    EXPECT_TRUE((host.ready(fd) & EPOLLIN) != 0);
    EXPECT_EQ(receive(fd), "e");
    EXPECT_TRUE((host.ready(fd) & EPOLLIN) == 0);
}

TEST_P(FaultInjection, ForcedShortWritesAreFollowedByAnotherEdge) {
    connect();
    host.watch(fd, every_edge);
    EXPECT_EQ(host.ready(fd), EPOLLOUT);
    network.faults().short_io_bytes(3);
    EXPECT_EQ(send(fd, "abcde"), 3);
    EXPECT_EQ(host.ready(fd), EPOLLOUT);
    std::string first = "d", second = "efgh";
    const std::array pieces{iovec{first.data(), 1}, iovec{second.data(), 4}};
    EXPECT_EQ(sys::send_gathered(fd, pieces.data(), pieces.size()), 3);
    EXPECT_EQ(host.ready(fd), EPOLLOUT);
    EXPECT_TRUE(comes([&] { return client->received() == "abcdef"; }));
}

TEST_P(FaultInjection, AnInjectedWouldBlockIsFollowedByAnotherEdge) {
    connect();
    host.watch(fd, every_edge);
    client->send("a");
    EXPECT_TRUE(becomes_ready(EPOLLIN));
    network.faults().fail({.call = Call::receive, .error = EAGAIN});
    EXPECT_EQ(receive(fd), "error EAGAIN");
    EXPECT_TRUE((host.ready(fd) & EPOLLIN) != 0);
    EXPECT_EQ(receive(fd), "a");
}

TEST_P(FaultInjection, CountsDescriptorsThatAreOpen) {
    EXPECT_EQ(network.open_descriptors(), 2u);
    connect();
    EXPECT_EQ(network.open_descriptors(), 3u);
    host.close(fd);
    EXPECT_EQ(network.open_descriptors(), 2u);
}

// --- Scenarios under faults
// -----------------------------------------------------------------------

// An echo server that gives up on every error.
int64_t echo_once(TestNetwork& network, std::string& echoed) {
    const int listener = sys::stream_socket(AF_INET);
    if (listener < 0) return listener;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    uint32_t bytes = sizeof address;
    int64_t result = sys::bind(listener, Host::as_sockaddr(address), bytes);
    if (result >= 0) result = sys::listen(listener, 1);
    if (result >= 0) result = sys::local_address(listener, Host::as_sockaddr(address), &bytes);
    if (result < 0) return sys::close(listener), result;
    Client client = network.connect(ntohs(address.sin_port));
    client.send("hello");
    const int fd = sys::accept(listener);
    result = fd;
    char buffer[16];
    if (fd >= 0) result = sys::receive(fd, buffer, sizeof buffer);
    if (result > 0) result = sys::send(fd, buffer, static_cast<size_t>(result));
    if (fd >= 0) sys::close(fd);
    sys::close(listener);
    network.settle_until([] {}, [&] { return client.has_ended() || client.was_reset(); });
    echoed = client.received();
    return result;
}

TEST(FailAtEachStep, FailsEachCallOnceAndEndsWithASuccess) {
    int runs = 0, successes = 0;
    fail_at_each_step(
        [&](Faults& faults) {
            ++runs;
            TestNetwork network{Transport::memory, faults};
            std::string echoed;
            const int64_t result = echo_once(network, echoed);
            EXPECT_EQ(network.open_descriptors(), 0u);
            if (faults.triggered() > 0) {
                EXPECT_LT(result, 0);
            } else {
                ++successes;
                EXPECT_EQ(echoed, "hello");
            }
        },
        {EMFILE, ECONNRESET});
    EXPECT_EQ(successes, 2);
    EXPECT_EQ(runs, 2 * 8);  // seven calls that can fail
}

}  // namespace
}  // namespace millrace::testing
