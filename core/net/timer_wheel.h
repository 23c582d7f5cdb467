// Timeouts of many connections at the cost of a few stores: a hashed wheel of intrusive timers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace millrace::net {

class TimerWheel;

// A deadline that belongs to some object. Never fires early; up to TimerWheel::tick_ms late.
class Timer {
  public:
    Timer() = default;
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    virtual void on_timer() = 0;

    bool is_armed() const { return next_ != nullptr; }

  protected:
    ~Timer() { unlink(); }  // disarm first: the wheel counts its timers

  private:
    friend class TimerWheel;
    void unlink();

    Timer* next_ = nullptr;  // circular list through the slot's head; null when not armed
    Timer* previous_ = nullptr;
    int64_t expires_ms_ = 0;
};

// Times are milliseconds of the monotonic clock.
class TimerWheel {
  public:
    static constexpr int64_t tick_ms = 32;
    static constexpr size_t slot_count =
        2048;  // one round is 65 s; longer deadlines go round again

    explicit TimerWheel(int64_t now_ms);
    ~TimerWheel();
    TimerWheel(const TimerWheel&) = delete;
    TimerWheel& operator=(const TimerWheel&) = delete;

    // Arms, or moves an armed timer.
    void arm(Timer& timer, int64_t expires_ms);
    void disarm(Timer& timer);

    // Calls on_timer() of everything due. A callback may arm, disarm and destroy any timer.
    void expire(int64_t now_ms);

    // When expire() should be called next; never later than the first deadline rounded up to a
    // tick. 0 if no timer is armed.
    int64_t next_expiry_ms() const;

    size_t armed_count() const { return armed_; }

  private:
    struct Slot final : Timer {
        void on_timer() override {}
    };

    static int64_t tick_of(int64_t expires_ms) { return (expires_ms + tick_ms - 1) / tick_ms; }
    void expire_slot(size_t slot, int64_t now_ms);

    std::array<Slot, slot_count> slots_;
    std::array<uint64_t, slot_count / 64> occupied_{};  // may say yes of an empty slot, never no
    int64_t done_tick_;                                 // everything up to here has been looked at
    size_t armed_ = 0;
};

}  // namespace millrace::net
