#include "core/net/event_loop.h"

#include "core/base/assert.h"
#include "core/net/sys.h"

#include <sys/epoll.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace millrace::net {
namespace {

// Tags of the loop's own descriptors among the epoll data; no watcher has these addresses.
char eventfd_tag;
char timerfd_tag;

int64_t to_ms(int64_t ns) { return ns / 1'000'000; }

int check(int result, const char* what) {
    if (result < 0) throw std::system_error(-result, std::system_category(), what);
    return result;
}

}  // namespace

EventLoop::EventLoop()
    : now_ms_(to_ms(sys::monotonic_ns())),
      timers_(now_ms_),
      events_(std::make_unique<epoll_event[]>(events_max)) {
    try {
        epoll_ = check(sys::epoll_create(), "epoll_create");
        eventfd_ = check(sys::eventfd(), "eventfd");
        timerfd_ = check(sys::timerfd(), "timerfd_create");
        check(sys::epoll_add(epoll_, eventfd_, EPOLLIN, &eventfd_tag), "epoll_ctl");
        check(sys::epoll_add(epoll_, timerfd_, EPOLLIN, &timerfd_tag), "epoll_ctl");
    } catch (...) {
        for (int fd : {timerfd_, eventfd_, epoll_})
            if (fd >= 0) sys::close(fd);
        throw;
    }
}

EventLoop::~EventLoop() {
    clear_disposed();
    sys::close(timerfd_);
    sys::close(eventfd_);
    sys::close(epoll_);
}

int64_t EventLoop::refresh_clock() { return now_ms_ = to_ms(sys::monotonic_ns()); }

bool EventLoop::turn(int timeout_ms) {
    MR_ASSERT(!is_in_turn_);
    if (!again_.empty()) timeout_ms = 0;
    const int count = sys::epoll_wait(epoll_, events_.get(), events_max, timeout_ms);
    is_in_turn_ = true;
    refresh_clock();
    event_end_ = std::max(count, 0);  // unwatch() looks at them from now on
    run_again_list();
    dispatch();
    timers_.expire(now_ms_);
    run_posted();
    if (turn_end_) turn_end_();
    rearm_timerfd();
    clear_disposed();
    is_in_turn_ = false;
    return !again_.empty();
}

void EventLoop::dispatch() {
    while (event_next_ < event_end_) {
        const epoll_event event = events_[event_next_++];
        void* tag = event.data.ptr;
        if (tag == nullptr) continue;  // unwatched by an earlier event of this turn
        if (tag == &eventfd_tag) {
            // In this order: a signal that comes in between would be cleared with is_woken_ set,
            // and nobody would signal any more. What its sender posted is run by this very turn.
            sys::eventfd_clear(eventfd_);
            is_woken_.store(false);
        } else if (tag == &timerfd_tag) {
            sys::timerfd_clear(timerfd_);
            timerfd_expiry_ms_ = 0;
        } else {
            static_cast<Watcher*>(tag)->on_ready({
                .readable = (event.events & EPOLLIN) != 0,
                .writable = (event.events & EPOLLOUT) != 0,
                .peer_finished = (event.events & EPOLLRDHUP) != 0,
                .broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0,
            });
        }
    }
    event_next_ = event_end_ = 0;
}

void EventLoop::run_again_list() {
    again_running_.swap(again_);
    for (size_t index = 0; index < again_running_.size(); ++index) {
        Watcher* watcher = again_running_[index];
        if (!watcher) continue;
        watcher->is_queued_again_ = false;
        again_running_[index] = nullptr;
        watcher->on_ready({});
    }
    again_running_.clear();
}

void EventLoop::run_posted() {
    if (!has_posted_.exchange(false)) return;
    std::vector<std::function<void()>> functions;
    {
        const std::lock_guard lock(posted_mutex_);
        functions.swap(posted_);
    }
    for (auto& function : functions)
        function();
}

void EventLoop::rearm_timerfd() {
    const int64_t next = timers_.next_expiry_ms();
    // A timerfd that fires too early costs one empty turn; one that is armed anew a system call.
    if (next == 0 || (timerfd_expiry_ms_ != 0 && timerfd_expiry_ms_ <= next)) return;
    // If it fails, the next turn tries again.
    timerfd_expiry_ms_ = sys::timerfd_arm(timerfd_, next * 1'000'000) < 0 ? 0 : next;
}

void EventLoop::clear_disposed() {
    // Destructors may dispose of more.
    while (!disposed_.empty()) {
        const auto doomed = std::exchange(disposed_, {});
    }
}

void EventLoop::wake() {
    if (!is_woken_.exchange(true) && sys::eventfd_signal(eventfd_) < 0) is_woken_.store(false);
}

void EventLoop::post(std::function<void()> function) {
    // The signal is part of it: `function` may lead to the end of the loop in its own thread, and
    // cannot run before the lock is free.
    const std::lock_guard lock(posted_mutex_);
    posted_.push_back(std::move(function));
    has_posted_.store(true);
    wake();
}

int EventLoop::watch(int fd, Watcher& watcher) {
    return sys::epoll_add(epoll_, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, &watcher);
}

void EventLoop::unwatch(int fd, Watcher& watcher) {
    sys::epoll_remove(epoll_, fd);
    for (int index = event_next_; index < event_end_; ++index)
        if (events_[index].data.ptr == &watcher) events_[index].data.ptr = nullptr;
    if (!watcher.is_queued_again_) return;
    watcher.is_queued_again_ = false;
    std::erase(again_, &watcher);
    std::replace(again_running_.begin(), again_running_.end(), &watcher,
                 static_cast<Watcher*>(nullptr));
}

void EventLoop::again(Watcher& watcher) {
    if (watcher.is_queued_again_) return;
    watcher.is_queued_again_ = true;
    again_.push_back(&watcher);
    if (!is_in_turn_) wake();
}

void EventLoop::dispose(std::unique_ptr<Disposable> object) {
    disposed_.push_back(std::move(object));
    if (!is_in_turn_) wake();
}

}  // namespace millrace::net
