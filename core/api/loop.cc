#include "millrace/loop.h"

#include "core/server/one_shots.h"
#include "core/server/server_loop.h"

#include <utility>

namespace millrace {

namespace {

// What a function of the program throws goes on to whoever runs the loop, but not before everything
// else that the turn brought has had its due.
template <typename Function>
void guarded(server::ServerLoop& loop, Function& function) {
    try {
        function();
    } catch (...) {
        loop.keep(std::current_exception());
    }
}

}  // namespace

class Loop::State {
  public:
    explicit State(server::ServerLoop& loop) : timers(loop.events()) {}

    bool is_stopping = false;
    server::OneShots timers;
};

Loop::Loop() : Loop(Options{}) {}

Loop::Loop(const Options& options)
    : internals_(std::make_unique<server::ServerLoop>(server::ServerLoop::Options{
          .receive_memory = options.receive_arena, .groups_sends = options.io_uring})),
      state_(std::make_unique<State>(*internals_)) {}

Loop::~Loop() = default;

void Loop::run() {
    if (internals_->events().is_in_turn()) return;
    bool has_more = false;
    // A stop() that comes before run() counts: another thread cannot know which is first.
    while (!std::exchange(state_->is_stopping, false) && (has_work() || has_more)) {
        has_more = internals_->events().turn(has_more ? 0 : -1);
        internals_->rethrow();
    }
}

bool Loop::turn() {
    if (internals_->events().is_in_turn()) return false;
    const bool has_more = internals_->events().turn(0);
    internals_->rethrow();
    return has_more;
}

void Loop::stop() {
    // By way of the loop's thread: run() must not return, and the loop be destroyed, before this
    // call is done with it.
    internals_->events().post([this] { state_->is_stopping = true; });
}

void Loop::post(std::function<void()> function) {
    internals_->events().post(
        [this, function = std::move(function)] { guarded(*internals_, function); });
}

void Loop::after(uint32_t milliseconds, std::function<void()> function) {
    state_->timers.add(milliseconds,
                       [this, function = std::move(function)] { guarded(*internals_, function); });
}

int Loop::poll_descriptor() const { return internals_->events().poll_descriptor(); }

void Loop::wake() { internals_->events().wake(); }

void Loop::flush() { internals_->flush_outside_turn(); }

void Loop::on_batch(std::function<void()> hook) {
    internals_->on_batch([this, hook = std::move(hook)] { guarded(*internals_, hook); });
}

bool Loop::has_work() const {
    const server::LoopCounters& counters = internals_->counters();
    return counters.listeners > 0 || counters.connections > 0 || !state_->timers.empty();
}

LoopStats Loop::stats() const {
    const server::LoopCounters& counters = internals_->counters();
    return {
        .turns = counters.turns,
        .batches = counters.batches,
        .events = counters.events,
        .sends = counters.sends,
        .grouped_sends = counters.grouped_sends,
        .receives = counters.receives,
        .connections = counters.connections,
        .received_bytes = counters.received_bytes,
        .sent_bytes = counters.sent_bytes,
    };
}

}  // namespace millrace
