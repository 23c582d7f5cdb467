#include "core/server/one_shots.h"

#include <utility>

namespace millrace::server {

class OneShots::OneShot final : public net::Timer {
  public:
    OneShot(OneShots& owner, std::function<void()> function)
        : owner_(owner), function_(std::move(function)) {}

    void on_timer() override {
        // The node is kept until the function has returned.
        const auto node = owner_.timers_.extract(this);
        function_();
    }

  private:
    OneShots& owner_;
    std::function<void()> function_;
};

OneShots::OneShots(net::EventLoop& events) : events_(events) {}

OneShots::~OneShots() {
    for (auto& [timer, owned] : timers_)
        events_.disarm(*timer);
}

void OneShots::add(uint32_t milliseconds, std::function<void()> function) {
    auto timer = std::make_unique<OneShot>(*this, std::move(function));
    events_.arm(*timer, events_.refresh_clock() + milliseconds);
    timers_.emplace(timer.get(), std::move(timer));
    if (!events_.is_in_turn()) events_.wake();
}

}  // namespace millrace::server
