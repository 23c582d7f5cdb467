// The event loop: readiness (epoll, edge-triggered), timers (one timerfd), and calls from other
// threads (one eventfd). Driven (poll_descriptor() and turn(0)) or run by its owner. Belongs to one
// thread; only wake() and post() may be called from others.
#pragma once

#include "core/net/readiness.h"
#include "core/net/timer_wheel.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

struct epoll_event;

namespace millrace::net {

// Something that must not be destroyed before the turn is over, because the call stack may be
// inside it.
class Disposable {
  public:
    virtual ~Disposable() = default;
};

class EventLoop {
  public:
    // Throws std::system_error if the kernel refuses a descriptor.
    EventLoop();
    ~EventLoop();
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;

    // Becomes readable when turn() has something to do.
    int poll_descriptor() const { return epoll_; }

    // One turn: wait for at most `timeout_ms` (0: not at all, -1: no limit), then readiness,
    // timers, posted functions, the end-of-turn hook. Returns true if work is left that needs
    // another turn at once. Not from inside a turn.
    bool turn(int timeout_ms);

    // Wakes a turn that waits. From any thread.
    void wake();

    // Runs `function` in the loop's thread in a coming turn. From any thread.
    void post(std::function<void()> function);

    // The end-of-turn hook: runs once a turn, after everything else that the turn brought.
    void on_turn_end(std::function<void()> hook) { turn_end_ = std::move(hook); }

    // Watches a descriptor in both directions from now on. Returns 0 or a negated errno.
    int watch(int fd, Watcher& watcher);

    // Must be called before `fd` is closed. The watcher will not be called again.
    void unwatch(int fd, Watcher& watcher);

    // Calls on_ready() with no readiness in the next turn, for work that was put off. Outside a
    // turn it wakes the loop.
    void again(Watcher& watcher);

    bool is_in_turn() const { return is_in_turn_; }

    // Destroys at the end of this turn, or of the next one if none is under way (which it wakes).
    void dispose(std::unique_ptr<Disposable> object);

    void arm(Timer& timer, int64_t expires_ms) { timers_.arm(timer, expires_ms); }
    void disarm(Timer& timer) { timers_.disarm(timer); }
    size_t armed_timer_count() const { return timers_.armed_count(); }

    // Milliseconds of the monotonic clock as of the start of the turn, or of refresh_clock().
    int64_t now_ms() const { return now_ms_; }
    int64_t refresh_clock();

  private:
    static constexpr int events_max = 512;

    void dispatch();
    void run_again_list();
    void run_posted();
    void rearm_timerfd();
    void clear_disposed();

    int epoll_ = -1;
    int eventfd_ = -1;
    int timerfd_ = -1;
    int64_t now_ms_;
    int64_t timerfd_expiry_ms_ = 0;
    bool is_in_turn_ = false;
    TimerWheel timers_;

    std::unique_ptr<epoll_event[]> events_;
    int event_next_ = 0;  // events_[event_next_ .. event_end_) are still to be dispatched
    int event_end_ = 0;

    std::vector<Watcher*> again_;
    std::vector<Watcher*> again_running_;
    std::vector<std::unique_ptr<Disposable>> disposed_;
    std::function<void()> turn_end_;

    std::mutex posted_mutex_;
    std::vector<std::function<void()>> posted_;  // under posted_mutex_
    std::atomic<bool> has_posted_{false};
    std::atomic<bool> is_woken_{false};
};

}  // namespace millrace::net
