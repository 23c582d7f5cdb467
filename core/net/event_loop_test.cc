#include "core/net/event_loop.h"

#include "core/net/sys.h"
#include "core/testing/network_fixture.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace millrace::net {
namespace {

using testing::Call;
using testing::Faults;
using testing::TestNetwork;
using testing::Transport;

struct Probe final : Watcher {
    explicit Probe(std::function<void(Readiness)> run = [](Readiness) {}) : function(run) {}
    void on_ready(Readiness ready) override {
        ++calls;
        last = ready;
        function(ready);
    }
    std::function<void(Readiness)> function;
    Readiness last;
    int calls = 0;
};

struct Alarm final : Timer {
    void on_timer() override { ++fired; }
    int fired = 0;
};

struct Doomed final : Disposable {
    explicit Doomed(std::function<void()> run) : function(std::move(run)) {}
    ~Doomed() override { function(); }
    std::function<void()> function;
};

class EventLoopTest : public testing::OnBothTransports {
  protected:
    EventLoop loop;

    bool turns_until(const std::function<bool()>& condition) {
        return network.settle_until([&] { return loop.turn(0); }, condition);
    }
};

INSTANTIATE_TEST_SUITE_P(Both, EventLoopTest,
                         ::testing::Values(Transport::memory, Transport::loopback),
                         testing::transport_name);

TEST_P(EventLoopTest, ReportsReadinessOnce) {
    connect();
    Probe probe;
    ASSERT_EQ(loop.watch(fd, probe), 0);
    ASSERT_TRUE(turns_until([&] { return probe.calls == 1; }));
    EXPECT_TRUE(probe.last.writable);
    EXPECT_FALSE(probe.last.readable);
    loop.turn(0);
    EXPECT_EQ(probe.calls, 1);
    client->send("a");
    ASSERT_TRUE(turns_until([&] { return probe.calls == 2; }));
    EXPECT_TRUE(probe.last.readable);
    EXPECT_FALSE(probe.last.peer_finished);
    client->half_close();
    ASSERT_TRUE(turns_until([&] { return probe.last.peer_finished; }));
    EXPECT_FALSE(probe.last.broken);
    client->reset();
    ASSERT_TRUE(turns_until([&] { return probe.last.broken; }));
    loop.unwatch(fd, probe);
}

TEST_P(EventLoopTest, UnwatchedInTheSameTurn) {
    connect();
    testing::Client second = network.connect(host.port());
    const int other = host.accept();
    ASSERT_GE(other, 0);
    // Whichever comes first takes the other away.
    Probe a, b;
    a.function = [&](Readiness) { loop.unwatch(other, b); };
    b.function = [&](Readiness) { loop.unwatch(fd, a); };
    ASSERT_EQ(loop.watch(fd, a), 0);
    ASSERT_EQ(loop.watch(other, b), 0);
    ASSERT_TRUE(turns_until([&] { return a.calls + b.calls > 0; }));
    client->send("x");
    second.send("x");
    network.settle([&] { return loop.turn(0); });
    EXPECT_EQ(std::min(a.calls, b.calls), 0);
    loop.unwatch(fd, a);
    loop.unwatch(other, b);
}

TEST_P(EventLoopTest, WatchedFromInsideACallback) {
    connect();
    Probe inner;
    Probe outer{[&](Readiness) {
        loop.unwatch(fd, outer);
        EXPECT_EQ(loop.watch(fd, inner), 0);
    }};
    ASSERT_EQ(loop.watch(fd, outer), 0);
    ASSERT_TRUE(turns_until([&] { return inner.calls == 1; }));
    EXPECT_EQ(outer.calls, 1);
    loop.unwatch(fd, inner);
}

TEST_P(EventLoopTest, WorkPutOffComesInTheNextTurn) {
    connect();
    Probe probe;
    loop.again(probe);
    loop.again(probe);
    EXPECT_FALSE(loop.turn(0));
    EXPECT_EQ(probe.calls, 1);
    EXPECT_FALSE(probe.last.readable || probe.last.writable);
    probe.function = [&](Readiness) {
        if (probe.calls < 4) loop.again(probe);
    };
    loop.again(probe);
    EXPECT_TRUE(loop.turn(0));
    EXPECT_TRUE(loop.turn(-1));  // does not wait
    EXPECT_FALSE(loop.turn(0));
    EXPECT_EQ(probe.calls, 4);
}

TEST_P(EventLoopTest, WorkPutOffIsForgottenWithItsWatcher) {
    connect();
    auto gone = std::make_unique<Probe>();
    ASSERT_EQ(loop.watch(fd, *gone), 0);
    Probe first{[&](Readiness) {
        if (!gone) return;
        loop.unwatch(fd, *gone);
        gone.reset();
    }};
    loop.again(first);
    loop.again(*gone);
    loop.turn(0);
    EXPECT_EQ(first.calls, 1);
    EXPECT_EQ(gone, nullptr);
}

TEST_P(EventLoopTest, DisposesAtTheEndOfTheTurn) {
    std::string trace;
    Probe probe{[&](Readiness) {
        loop.dispose(std::make_unique<Doomed>([&] {
            trace += "first ";
            loop.dispose(std::make_unique<Doomed>([&] { trace += "second "; }));
        }));
        trace += "callback ";
    }};
    loop.on_turn_end([&] { trace += "end "; });
    loop.again(probe);
    loop.turn(0);
    EXPECT_EQ(trace, "callback end first second ");
    loop.dispose(std::make_unique<Doomed>([&] { trace += "outside "; }));
    EXPECT_EQ(trace, "callback end first second ");
    EXPECT_FALSE(loop.turn(-1));  // has been woken
    EXPECT_EQ(trace, "callback end first second end outside ");
}

TEST_P(EventLoopTest, TimersFireAndWakeThePoller) {
    Alarm alarm;
    loop.arm(alarm, loop.refresh_clock() + 100);
    EXPECT_EQ(loop.armed_timer_count(), 1u);
    loop.turn(0);
    network.advance_ms(99);
    if (GetParam() == Transport::memory) {
        loop.turn(0);
        EXPECT_EQ(alarm.fired, 0);
    }
    network.advance_ms(1 + TimerWheel::tick_ms);
    loop.turn(-1);  // the timer makes the descriptor readable
    EXPECT_TRUE(turns_until([&] { return alarm.fired == 1; }));
    // An earlier deadline moves the kernel's timer, too.
    loop.arm(alarm, loop.refresh_clock() + 60'000);
    loop.turn(0);
    loop.arm(alarm, loop.refresh_clock() + 50);
    loop.turn(0);
    network.advance_ms(50 + TimerWheel::tick_ms);
    loop.turn(-1);
    EXPECT_TRUE(turns_until([&] { return alarm.fired == 2; }));
}

TEST_P(EventLoopTest, PostedFunctionsRunInOrderAndMayPostMore) {
    std::string trace;
    loop.post([&] {
        trace += "a";
        loop.post([&] { trace += "c"; });
    });
    loop.post([&] { trace += "b"; });
    loop.turn(-1);
    EXPECT_EQ(trace, "ab");
    loop.turn(-1);
    EXPECT_EQ(trace, "abc");
}

TEST_P(EventLoopTest, ASignalOrATimerThatFailedIsTriedAgain) {
    network.faults().fail({.call = Call::signal, .error = ENOMEM});
    bool has_run = false;
    loop.post([&] { has_run = true; });
    loop.wake();
    loop.turn(-1);
    EXPECT_TRUE(has_run);
    Alarm alarm;
    network.settle([&] { return loop.turn(0); });
    network.faults().fail({.call = Call::signal, .error = ENOMEM});
    loop.arm(alarm, loop.refresh_clock() + 10);
    loop.turn(0);
    loop.turn(0);
    network.advance_ms(10 + TimerWheel::tick_ms);
    EXPECT_TRUE(turns_until([&] { return alarm.fired == 1; }));
}

TEST_P(EventLoopTest, AWaitThatFailsIsAnEmptyTurn) {
    network.faults().fail({.call = Call::wait, .count = 3, .error = ENOMEM});
    int ends = 0;
    loop.on_turn_end([&] { ++ends; });
    for (int count = 0; count < 4; ++count)
        loop.turn(0);
    EXPECT_EQ(ends, 4);
}

TEST(EventLoopSetUp, FailsCleanly) {
    for (const Call call : {Call::create, Call::watch}) {
        for (uint64_t step = 1; step <= (call == Call::create ? 3u : 2u); ++step) {
            Faults faults;
            TestNetwork network{Transport::memory, faults};
            faults.fail({.call = call, .step = step, .error = EMFILE});
            EXPECT_THROW(EventLoop{}, std::system_error);
            EXPECT_EQ(network.open_descriptors(), 0u);
        }
    }
}

// Many threads post to a loop that does nothing but wait: no wake may be lost.
TEST(EventLoopThreads, NoWakeIsLost) {
    EventLoop loop;
    constexpr int threads = 3, posts = 3'000;
    int run = 0;
    std::vector<std::thread> posters;
    for (int index = 0; index < threads; ++index)
        posters.emplace_back([&] {
            for (int count = 0; count < posts; ++count) {
                loop.post([&run] { ++run; });
                if (count % 16 == 0) std::this_thread::yield();
            }
        });
    while (run < threads * posts)
        loop.turn(-1);
    for (std::thread& poster : posters)
        poster.join();
    // And it still hears.
    std::thread last{[&] { loop.post([&run] { ++run; }); }};
    while (run < threads * posts + 1)
        loop.turn(-1);
    last.join();
}

}  // namespace
}  // namespace millrace::net
