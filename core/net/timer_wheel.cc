#include "core/net/timer_wheel.h"

#include "core/base/assert.h"

#include <algorithm>
#include <bit>

namespace millrace::net {

void Timer::unlink() {
    if (!next_) return;
    previous_->next_ = next_;
    next_->previous_ = previous_;
    next_ = previous_ = nullptr;
}

TimerWheel::TimerWheel(int64_t now_ms) : done_tick_(now_ms / tick_ms) {
    for (auto& slot : slots_)
        slot.next_ = slot.previous_ = &slot;
}

TimerWheel::~TimerWheel() {
    for (auto& slot : slots_) {
        while (slot.next_ != &slot)
            slot.next_->unlink();
        slot.next_ = slot.previous_ = nullptr;
    }
}

void TimerWheel::arm(Timer& timer, int64_t expires_ms) {
    if (timer.is_armed())
        timer.unlink();
    else
        ++armed_;
    timer.expires_ms_ = expires_ms;
    const int64_t tick = std::max(tick_of(expires_ms), done_tick_ + 1);
    const auto slot = static_cast<size_t>(tick) % slot_count;
    Timer& head = slots_[slot];
    timer.previous_ = head.previous_;
    timer.next_ = &head;
    head.previous_->next_ = &timer;
    head.previous_ = &timer;
    occupied_[slot / 64] |= uint64_t{1} << (slot % 64);
}

void TimerWheel::disarm(Timer& timer) {
    if (!timer.is_armed()) return;
    timer.unlink();
    --armed_;
}

void TimerWheel::expire(int64_t now_ms) {
    const int64_t now_tick = now_ms / tick_ms;
    if (now_tick <= done_tick_) return;
    const int64_t first = done_tick_ + 1;
    const int64_t last = std::min(now_tick, done_tick_ + static_cast<int64_t>(slot_count));
    done_tick_ = now_tick;
    if (armed_ == 0) return;
    for (int64_t tick = first; tick <= last; ++tick) {
        const auto slot = static_cast<size_t>(tick) % slot_count;
        if (occupied_[slot / 64] >> (slot % 64) & 1) expire_slot(slot, now_ms);
    }
}

void TimerWheel::expire_slot(size_t slot, int64_t now_ms) {
    // The due list is moved out first: a callback may arm timers into this very slot.
    Slot due;
    due.next_ = due.previous_ = &due;
    Timer& head = slots_[slot];
    bool some_stay = false;
    for (Timer* timer = head.next_; timer != &head;) {
        Timer* following = timer->next_;
        if (timer->expires_ms_ <= now_ms) {
            timer->unlink();
            timer->previous_ = due.previous_;
            timer->next_ = &due;
            due.previous_->next_ = timer;
            due.previous_ = timer;
        } else {
            some_stay = true;
        }
        timer = following;
    }
    if (!some_stay) occupied_[slot / 64] &= ~(uint64_t{1} << (slot % 64));
    while (due.next_ != &due) {
        Timer* timer = due.next_;
        timer->unlink();
        --armed_;
        timer->on_timer();
    }
    due.next_ = due.previous_ = nullptr;
}

int64_t TimerWheel::next_expiry_ms() const {
    if (armed_ == 0) return 0;
    for (size_t step = 1; step <= slot_count;) {
        const auto slot = static_cast<size_t>(done_tick_ + static_cast<int64_t>(step)) % slot_count;
        const uint64_t word = occupied_[slot / 64] >> (slot % 64);
        if (word != 0) {
            step += static_cast<size_t>(std::countr_zero(word));
            return (done_tick_ + static_cast<int64_t>(step)) * tick_ms;
        }
        step += 64 - slot % 64;
    }
    MR_ASSERT(false);
    return 0;
}

}  // namespace millrace::net
