#include "core/net/timer_wheel.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace millrace::net {
namespace {

constexpr int64_t start_ms = 1'000'003;
constexpr int64_t round_ms = TimerWheel::tick_ms * static_cast<int64_t>(TimerWheel::slot_count);

struct Alarm final : Timer {
    explicit Alarm(std::function<void()> run = [] {}) : function(std::move(run)) {}
    void on_timer() override {
        ++fired;
        function();
    }
    std::function<void()> function;
    int fired = 0;
};

class TimerWheelTest : public ::testing::Test {
  protected:
    // Goes to `until_ms` as the loop does: whenever the wheel wants to be looked at.
    void pass_until(int64_t until_ms) {
        while (true) {
            const int64_t next = wheel.next_expiry_ms();
            if (next == 0 || next > until_ms) break;
            ASSERT_GT(next, now_ms) << "the wheel wants to be looked at again and again";
            now_ms = next;
            wheel.expire(now_ms);
        }
        now_ms = until_ms;
        wheel.expire(now_ms);
    }

    TimerWheel wheel{start_ms};
    int64_t now_ms = start_ms;
};

TEST_F(TimerWheelTest, NeverEarlyAndAtMostOneTickLate) {
    for (const int64_t delay : {int64_t{0}, int64_t{1}, int64_t{31}, int64_t{32}, int64_t{33},
                                int64_t{1000}, round_ms - 33, round_ms - 1, round_ms, round_ms + 1,
                                round_ms + 40, 3 * round_ms + 5, 100 * round_ms}) {
        SCOPED_TRACE(delay);
        Alarm alarm;
        const int64_t expires_ms = now_ms + delay;
        wheel.arm(alarm, expires_ms);
        EXPECT_TRUE(alarm.is_armed());
        if (delay > 0) {
            pass_until(expires_ms - 1);
            EXPECT_EQ(alarm.fired, 0);
        }
        pass_until(expires_ms + TimerWheel::tick_ms);
        EXPECT_EQ(alarm.fired, 1);
        EXPECT_FALSE(alarm.is_armed());
        EXPECT_EQ(wheel.armed_count(), 0u);
    }
}

TEST_F(TimerWheelTest, EachOfManyInItsTime) {
    std::mt19937 random{2};
    struct Timed {
        std::unique_ptr<Alarm> alarm;
        int64_t expires_ms;
    };
    std::vector<Timed> all;
    for (int count = 0; count < 2'000; ++count) {
        const int64_t expires_ms = now_ms + static_cast<int64_t>(random() % (3 * round_ms));
        all.push_back({std::make_unique<Alarm>(), expires_ms});
        wheel.arm(*all.back().alarm, expires_ms + 17);
        wheel.arm(*all.back().alarm, expires_ms);  // moved
    }
    EXPECT_EQ(wheel.armed_count(), all.size());
    while (wheel.armed_count() > 0) {
        pass_until(now_ms + static_cast<int64_t>(random() % 2'000));
        for (const auto& [alarm, expires_ms] : all) {
            if (expires_ms > now_ms) {
                ASSERT_EQ(alarm->fired, 0);
            } else if (expires_ms + TimerWheel::tick_ms <= now_ms) {
                ASSERT_EQ(alarm->fired, 1);
            }
        }
    }
}

TEST_F(TimerWheelTest, AfterALongSleepAllThatIsDueFires) {
    std::vector<std::unique_ptr<Alarm>> alarms;
    for (int64_t delay = 0; delay < 4 * round_ms; delay += 1'000) {
        alarms.push_back(std::make_unique<Alarm>());
        wheel.arm(*alarms.back(), now_ms + delay);
    }
    wheel.expire(now_ms + 2 * round_ms);
    for (size_t index = 0; index < alarms.size(); ++index)
        EXPECT_EQ(alarms[index]->fired,
                  static_cast<int64_t>(index) * 1'000 <= 2 * round_ms ? 1 : 0);
    for (const auto& alarm : alarms)
        wheel.disarm(*alarm);
}

TEST_F(TimerWheelTest, DisarmedOnesDoNotFire) {
    Alarm alarm;
    wheel.disarm(alarm);
    wheel.arm(alarm, now_ms + 100);
    wheel.disarm(alarm);
    EXPECT_FALSE(alarm.is_armed());
    EXPECT_EQ(wheel.next_expiry_ms(), 0);
    pass_until(now_ms + 1'000);
    EXPECT_EQ(alarm.fired, 0);
}

TEST_F(TimerWheelTest, CallbacksArmAgain) {
    Alarm alarm;
    alarm.function = [&] {
        if (alarm.fired < 5) wheel.arm(alarm, now_ms);  // due already: in the next tick
    };
    wheel.arm(alarm, now_ms + 1);
    pass_until(now_ms + 40);
    EXPECT_EQ(alarm.fired, 1);
    pass_until(now_ms + 5 * TimerWheel::tick_ms);
    EXPECT_EQ(alarm.fired, 5);
}

TEST_F(TimerWheelTest, CallbacksDisarmAndDestroyTheirNeighbours) {
    // All in one slot, in the order in which they were armed.
    auto doomed = std::make_unique<Alarm>();
    Alarm disarmed, moved, last;
    Alarm first{[&] {
        wheel.disarm(*doomed);
        doomed.reset();
        wheel.disarm(disarmed);
        wheel.arm(moved, now_ms + 10 * TimerWheel::tick_ms);
    }};
    const int64_t expires_ms = now_ms + 100;
    for (Alarm* alarm : {&first, doomed.get(), &disarmed, &moved, &last})
        wheel.arm(*alarm, expires_ms);
    pass_until(expires_ms + TimerWheel::tick_ms);
    EXPECT_EQ(first.fired, 1);
    EXPECT_EQ(disarmed.fired, 0);
    EXPECT_EQ(moved.fired, 0);
    EXPECT_EQ(last.fired, 1);
    EXPECT_EQ(wheel.armed_count(), 1u);
    pass_until(expires_ms + 20 * TimerWheel::tick_ms);
    EXPECT_EQ(moved.fired, 1);
}

TEST_F(TimerWheelTest, ACallbackDestroysItsOwnTimer) {
    auto alarm = std::make_unique<Alarm>();
    bool has_run = false;
    alarm->function = [&] {
        const auto gone = std::move(alarm);
        has_run = true;
    };
    wheel.arm(*alarm, now_ms + 1);
    pass_until(now_ms + 100);
    EXPECT_TRUE(has_run);
    EXPECT_EQ(wheel.armed_count(), 0u);
}

TEST_F(TimerWheelTest, NextExpiryIsNeverTooLate) {
    EXPECT_EQ(wheel.next_expiry_ms(), 0);
    std::mt19937 random{3};
    for (int count = 0; count < 300; ++count) {
        Alarm alarm;
        const int64_t expires_ms = now_ms + static_cast<int64_t>(random() % (2 * round_ms));
        wheel.arm(alarm, expires_ms);
        const int64_t next = wheel.next_expiry_ms();
        EXPECT_GT(next, now_ms - TimerWheel::tick_ms);
        EXPECT_LT(next, std::max(expires_ms, now_ms) + 2 * TimerWheel::tick_ms);
        wheel.disarm(alarm);
        pass_until(now_ms + static_cast<int64_t>(random() % 5'000));
    }
}

TEST(TimerWheelEnd, TimersMayOutliveTheWheel) {
    Alarm alarm;
    {
        TimerWheel wheel{start_ms};
        wheel.arm(alarm, start_ms + 5);
    }
    EXPECT_FALSE(alarm.is_armed());
}

}  // namespace
}  // namespace millrace::net
