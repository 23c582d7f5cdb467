// The calls of sys.h on the real kernel, with a clock that can also be moved by hand: deadlines
// come early, and nothing has to wait for them.
#pragma once

#include "core/net/sys_linux_calls.h"

#include <cstdint>
#include <map>

namespace millrace::testing {

class LoopbackCalls : public net::sys::LinuxCalls {
  public:
    int64_t monotonic_ns() const { return LinuxCalls::monotonic_ns() + ahead_ns_; }
    int64_t unix_seconds() const { return LinuxCalls::unix_seconds() + ahead_ns_ / ns_per_second; }

    int epoll_add(int epoll, int fd, uint32_t events, void* data) {
        const int added = LinuxCalls::epoll_add(epoll, fd, events, data);
        if (added >= 0) watches_[fd] = {epoll, events, data};
        return added;
    }

    int epoll_remove(int epoll, int fd) {
        watches_.erase(fd);
        return LinuxCalls::epoll_remove(epoll, fd);
    }

    int timerfd_arm(int fd, int64_t expiry_ns) {
        const int armed = LinuxCalls::timerfd_arm(fd, real_expiry_ns(expiry_ns));
        if (armed >= 0) timers_[fd] = expiry_ns;
        return armed;
    }

    int timerfd_clear(int fd) {
        if (const auto timer = timers_.find(fd); timer != timers_.end())
            if (timer->second <= monotonic_ns()) timers_.erase(timer);
        return LinuxCalls::timerfd_clear(fd);
    }

    int close(int fd) {
        watches_.erase(fd);
        timers_.erase(fd);
        return LinuxCalls::close(fd);
    }

    void advance_ns(int64_t ns) {
        ahead_ns_ += ns;
        for (const auto& [fd, expiry_ns] : timers_)
            LinuxCalls::timerfd_arm(fd, real_expiry_ns(expiry_ns));
    }

    // Reports what holds of `fd` now as new.
    void rearm(int fd) {
        const auto found = watches_.find(fd);
        if (found == watches_.end()) return;
        epoll_event event{};
        event.events = found->second.events;
        event.data.ptr = found->second.data;
        ::epoll_ctl(found->second.epoll, EPOLL_CTL_MOD, fd, &event);
    }

  private:
    struct Watch {
        int epoll;
        uint32_t events;
        void* data;
    };

    int64_t real_expiry_ns(int64_t expiry_ns) const {
        return expiry_ns == 0 ? 0 : std::max<int64_t>(expiry_ns - ahead_ns_, 1);
    }

    int64_t ahead_ns_ = 0;
    std::map<int, Watch> watches_;
    std::map<int, int64_t> timers_;  // expiry, until it has been seen
};

}  // namespace millrace::testing
