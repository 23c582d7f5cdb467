// Functions that are called once, later, in the loop's thread.
#pragma once

#include "core/net/event_loop.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

namespace millrace::server {

class OneShots {
  public:
    explicit OneShots(net::EventLoop& events);
    ~OneShots();
    OneShots(const OneShots&) = delete;
    OneShots& operator=(const OneShots&) = delete;

    // Calls `function` not before `milliseconds` have passed. It must not throw.
    void add(uint32_t milliseconds, std::function<void()> function);

    bool empty() const { return timers_.empty(); }

  private:
    class OneShot;

    net::EventLoop& events_;
    std::unordered_map<OneShot*, std::unique_ptr<OneShot>> timers_;
};

}  // namespace millrace::server
