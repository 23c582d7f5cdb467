#include "core/testing/memory_file.h"
#include "core/testing/network_fixture.h"

#include <set>

namespace millrace::testing {
namespace {

class Readiness : public OnBothTransports {};

INSTANTIATE_TEST_SUITE_P(Both, Readiness, ::testing::Values(Transport::memory, Transport::loopback),
                         transport_name);

// --- Readiness
// ------------------------------------------------------------------------------------

TEST_P(Readiness, EdgesAreReportedOnce) {
    connect();
    host.watch(fd, every_edge);
    EXPECT_EQ(host.ready(fd), EPOLLOUT);
    EXPECT_EQ(host.ready(fd), 0u);
    client->send("a");
    EXPECT_TRUE(becomes_ready(EPOLLIN | EPOLLOUT));
    EXPECT_EQ(host.ready(fd), 0u);
    client->send("b");  // a new edge, although the old bytes are still there
    EXPECT_TRUE(becomes_ready(EPOLLIN));
    EXPECT_TRUE(comes([&] { return receive(fd) == "ab"; }));
    EXPECT_EQ(host.ready(fd), 0u);
}

TEST_P(Readiness, AnEdgeThatWasDealtWithIsNotReported) {
    connect();
    host.watch(fd, EPOLLIN | EPOLLET);
    EXPECT_EQ(host.ready(fd), 0u);
    client->send("a");
    EXPECT_TRUE(comes([&] { return receive(fd) == "a"; }));
    EXPECT_EQ(host.ready(fd), 0u);
}

TEST_P(Readiness, LevelsAreReportedWhileTheyHold) {
    connect();
    host.watch(fd, EPOLLIN);
    EXPECT_EQ(host.ready(fd), 0u);
    client->send("a");
    EXPECT_TRUE(becomes_ready(EPOLLIN));
    EXPECT_EQ(host.ready(fd), EPOLLIN);
    EXPECT_EQ(receive(fd), "a");
    EXPECT_EQ(host.ready(fd), 0u);
}

TEST_P(Readiness, WhatHoldsWhenTheWatchBeginsIsReported) {
    connect();
    client->send("a");
    client->half_close();
    EXPECT_TRUE(comes([&] { return receive(fd, 1) == "a"; }));
    EXPECT_TRUE(comes([&] { return receive(fd, 1) == ""; }));
    host.watch(fd, every_edge);
    EXPECT_EQ(host.ready(fd), EPOLLIN | EPOLLOUT | EPOLLRDHUP);
}

TEST_P(Readiness, AHalfCloseIsReportedWithItsBytes) {
    connect();
    host.watch(fd, every_edge);
    host.ready(fd);
    client->send("a");
    client->half_close();
    EXPECT_TRUE(becomes_ready(EPOLLIN | EPOLLRDHUP | EPOLLOUT));
    EXPECT_EQ(receive(fd), "a");
}

TEST_P(Readiness, BothDirectionsClosedIsAHangUp) {
    connect();
    host.watch(fd, every_edge);
    EXPECT_EQ(sys::shutdown_send(fd), 0);
    client->half_close();
    EXPECT_TRUE(becomes_ready(EPOLLIN | EPOLLRDHUP | EPOLLHUP));
}

TEST_P(Readiness, AResetIsAnErrorAndAHangUp) {
    connect();
    host.watch(fd, every_edge);
    EXPECT_EQ(host.ready(fd), EPOLLOUT);
    client->reset();
    EXPECT_TRUE(becomes_ready(EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLHUP | EPOLLERR));
    EXPECT_EQ(host.ready(fd), 0u);
}

TEST_P(Readiness, HangUpsNeedNotBeAskedFor) {
    connect();
    host.watch(fd, EPOLLET);
    client->reset();
    EXPECT_TRUE(becomes_ready(EPOLLHUP | EPOLLERR));
}

TEST_P(Readiness, ListenersBecomeReadable) {
    host.watch(host.listener, EPOLLIN | EPOLLET);
    EXPECT_EQ(host.ready(host.listener), 0u);
    Client first = network.connect(host.port());
    EXPECT_EQ(host.ready(host.listener), EPOLLIN);
    EXPECT_EQ(host.ready(host.listener), 0u);
    Client second = network.connect(host.port());
    EXPECT_EQ(host.ready(host.listener), EPOLLIN);
    host.accept();
    host.accept();
    EXPECT_EQ(host.ready(host.listener), 0u);
}

TEST_P(Readiness, ClosedAndRemovedDescriptorsAreNotReported) {
    connect();
    host.watch(fd, every_edge);
    EXPECT_EQ(sys::epoll_add(host.epoll, fd, EPOLLIN, nullptr), -EEXIST);
    EXPECT_EQ(sys::epoll_remove(host.epoll, fd), 0);
    client->send("a");
    network.settle([] {});
    EXPECT_EQ(host.ready(fd), 0u);
    host.watch(fd, every_edge);
    host.close(fd);
    EXPECT_EQ(host.ready(fd), 0u);
}

TEST_P(Readiness, MoreEventsThanFitComeInTheNextWaits) {
    std::vector<Client> clients;
    for (int count = 0; count < 5; ++count) {
        clients.push_back(network.connect(host.port()));
        host.watch(host.accept(), every_edge);
    }
    std::set<void*> seen;
    for (const int expected : {2, 2, 1, 0}) {
        std::array<epoll_event, 2> events;
        const int count = sys::epoll_wait(host.epoll, events.data(), events.size(), 0);
        EXPECT_EQ(count, expected);
        for (int index = 0; index < count; ++index) {
            void* const tag = events[static_cast<size_t>(index)].data.ptr;  // not aligned there
            seen.insert(tag);
        }
    }
    EXPECT_EQ(seen.size(), 5u);
}

TEST_P(Readiness, EventfdsAreReadableFromSignalToClear) {
    const int event = sys::eventfd();
    host.watch(event, EPOLLIN);
    EXPECT_EQ(host.ready(event), 0u);
    EXPECT_EQ(sys::eventfd_signal(event), 0);
    EXPECT_EQ(sys::eventfd_signal(event), 0);
    EXPECT_EQ(host.ready(event), EPOLLIN);
    EXPECT_EQ(host.ready(event), EPOLLIN);
    EXPECT_EQ(sys::eventfd_clear(event), 0);
    EXPECT_EQ(host.ready(event), 0u);
    EXPECT_EQ(sys::eventfd_clear(event), 0);
    sys::close(event);
}

// --- Time
// -----------------------------------------------------------------------------------------

TEST_P(Readiness, TimersFireWhenTheClockIsMoved) {
    constexpr int64_t hour_ms = 3'600'000, hour_ns = hour_ms * 1'000'000;
    const int timer = sys::timerfd();
    host.watch(timer, EPOLLIN | EPOLLET);
    const int64_t start_ns = sys::monotonic_ns(), start_s = sys::unix_seconds();
    EXPECT_EQ(sys::timerfd_arm(timer, start_ns + 2 * hour_ns), 0);
    network.advance_ms(hour_ms);
    EXPECT_EQ(host.ready(timer), 0u);
    network.advance_ms(hour_ms);
    EXPECT_GE(sys::monotonic_ns(), start_ns + 2 * hour_ns);
    EXPECT_GE(sys::unix_seconds(), start_s + 2 * 3600);
    EXPECT_TRUE(comes([&] { return host.ready(timer) == EPOLLIN; }));
    EXPECT_EQ(sys::timerfd_clear(timer), 0);

    EXPECT_EQ(sys::timerfd_arm(timer, sys::monotonic_ns() + hour_ns), 0);
    EXPECT_EQ(sys::timerfd_arm(timer, 0), 0);
    network.advance_ms(2 * hour_ms);
    EXPECT_EQ(host.ready(timer), 0u);

    EXPECT_EQ(sys::timerfd_arm(timer, 1), 0);  // long ago
    EXPECT_TRUE(comes([&] { return host.ready(timer) == EPOLLIN; }));
    sys::close(timer);
}

TEST_P(Readiness, ATimerFiresOnce) {
    const int timer = sys::timerfd();
    host.watch(timer, EPOLLIN);
    EXPECT_EQ(sys::timerfd_arm(timer, sys::monotonic_ns() + 1'000'000'000), 0);
    network.advance_ms(2000);
    EXPECT_TRUE(comes([&] { return host.ready(timer) == EPOLLIN; }));
    EXPECT_EQ(sys::timerfd_clear(timer), 0);
    network.advance_ms(2000);
    EXPECT_EQ(host.ready(timer), 0u);
    sys::close(timer);
}

}  // namespace
}  // namespace millrace::testing
