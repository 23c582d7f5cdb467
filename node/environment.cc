#include "node/environment.h"

#include "node/app_binding.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace millrace::node {
namespace {

class HandleScope {
  public:
    explicit HandleScope(napi_env env) : env_(env) { napi_open_handle_scope(env, &scope_); }
    ~HandleScope() { napi_close_handle_scope(env_, scope_); }
    HandleScope(const HandleScope&) = delete;
    HandleScope& operator=(const HandleScope&) = delete;

  private:
    napi_env env_;
    napi_handle_scope scope_ = nullptr;
};

}  // namespace

Environment::Environment(napi_env env) : env_(env) {
    heads_.emplace_back();
    check(env, napi_add_async_cleanup_hook(env, tear_down, this, &cleanup_));
}

Environment::~Environment() {
    // They use the memory that the references hold.
    apps_.clear();
    loop_.reset();
    napi_ref const references[] = {event_memory_.reference, command_memory_.reference,
                                   receive_memory_.reference, dispatcher_};
    for (napi_ref const reference : references)
        if (reference) napi_delete_reference(env_, reference);
    if (async_context_) napi_async_destroy(env_, async_context_);
}

// The environment ends: no JavaScript may run any more. libuv must let go of the descriptor before
// the loop closes it.
void Environment::tear_down(napi_async_cleanup_hook_handle handle, void* data) {
    auto* environment = static_cast<Environment*>(data);
    environment->is_dead_ = true;
    const auto finish = [environment, handle] {
        delete environment;
        napi_remove_async_cleanup_hook(handle);
    };
    for (auto& app : environment->apps_)
        app.reset();
    if (environment->uv_)
        environment->uv_->close(finish);
    else
        finish();
}

Environment::Shared Environment::share(napi_value buffer) {
    Shared shared;
    void* data = nullptr;
    size_t bytes = 0;
    check(env_, napi_get_arraybuffer_info(env_, buffer, &data, &bytes));
    check(env_, napi_create_reference(env_, buffer, 1, &shared.reference));
    shared.bytes = {static_cast<char*>(data), bytes};
    return shared;
}

void Environment::start(const Arguments& arguments) {
    if (loop_) throw_error(env_, "ERR_MILLRACE", "the engine has been started");
    event_memory_ = share(arguments.at(0));
    command_memory_ = share(arguments.at(1));
    receive_memory_ = share(arguments.at(2));
    check(env_, napi_create_reference(env_, arguments.at(3), 1, &dispatcher_));
    check(env_, napi_async_init(env_, nullptr, make_utf8(env_, "MILLRACE"), &async_context_));
    loop_.emplace(
        Loop::Options{.receive_arena = receive_memory_.bytes, .io_uring = arguments.flag_at(4)});
    loop_->on_batch([this] { dispatch(); });
    const char* error = nullptr;
    uv_ = UvBridge::open(
        env_, loop_->poll_descriptor(), [this] { on_ready(); }, error);
    if (!uv_) {
        loop_.reset();
        throw_error(env_, "ERR_MILLRACE_NO_LIBUV", error);
    }
}

Loop& Environment::loop() {
    if (!loop_) throw_error(env_, "ERR_MILLRACE", "the engine has not been started");
    return *loop_;
}

Response* Environment::open_response(uint32_t slot) {
    ResponseTable::Entry* entry = responses_.find(slot);
    return entry && entry->response.is_open() ? &entry->response : nullptr;
}

Request& Environment::request(uint32_t index) {
    if (index >= requests_.size())
        throw_error(env_, "ERR_MILLRACE_REQUEST_GONE", "the request is no longer valid");
    return requests_[index];
}

const PreparedHead& Environment::head(uint32_t number) const {
    if (number >= heads_.size()) throw_error(env_, "ERR_MILLRACE", "no such prepared head");
    return heads_[number];
}

uint32_t Environment::add_head(PreparedHead head) {
    heads_.push_back(std::move(head));
    return static_cast<uint32_t>(heads_.size() - 1);
}

AppBinding& Environment::app(uint32_t number) {
    if (number >= apps_.size()) throw_error(env_, "ERR_MILLRACE", "no such app");
    return *apps_[number];
}

uint32_t Environment::add_app(std::unique_ptr<AppBinding> app) {
    apps_.push_back(std::move(app));
    return static_cast<uint32_t>(apps_.size() - 1);
}

std::string_view Environment::received(uint32_t offset, uint32_t bytes) const {
    const std::span<char> arena = receive_memory_.bytes;
    if (offset > arena.size() || bytes > arena.size() - offset)
        throw_error(env_, "ERR_OUT_OF_RANGE", "not in the receive arena");
    return {arena.data() + offset, bytes};
}

// --- Events --------------------------------------------------------------------------------------

void Environment::push_event(EventKind kind, uint32_t flags, uint32_t slot, uint32_t third,
                             uint32_t fourth) {
    events_.push_back({static_cast<uint32_t>(kind) | flags, slot, third, fourth});
}

void Environment::add_request(Response response, Request& request, uint32_t route) {
    const uint32_t slot = responses_.add(response, event_count(), batch_);
    response.set_tag(slot + 1);
    requests_.push_back(request);
    push_event(EventKind::request, 0, slot, route, static_cast<uint32_t>(requests_.size() - 1));
}

void Environment::add_body(uint32_t slot, std::string_view data, bool is_last) {
    const auto offset =
        data.empty() ? 0 : static_cast<uint32_t>(data.data() - receive_memory_.bytes.data());
    has_parts_ = true;
    push_event(EventKind::body, is_last ? body_is_last : 0, slot, offset,
               static_cast<uint32_t>(data.size()));
}

void Environment::add_writable(uint32_t slot) {
    has_parts_ = true;
    push_event(EventKind::writable, 0, slot, 0, 0);
}

void Environment::withdraw(uint32_t index) {
    constexpr auto none = static_cast<uint32_t>(EventKind::none);
    events_[index][0] = none;
    if (index < next_event_ || index - next_event_ >= shown_events_) return;
    const size_t offset = events_begin + (index - next_event_) * sizeof(EventWords);
    std::memcpy(event_memory_.bytes.data() + offset, &none, sizeof none);
}

void Environment::add_aborted(uint32_t slot) {
    ResponseTable::Entry* entry = responses_.find(slot);
    if (!entry || is_dead_) return;
    // What JavaScript has not been given yet is withdrawn; what it has been given is past caring
    // about its event.
    if (entry->batch == batch_) withdraw(entry->event_index);
    for (uint32_t index = next_event_; has_parts_ && index < event_count(); ++index) {
        const EventWords& words = events_[index];
        const auto kind = static_cast<EventKind>(words[0] & event_kind_mask);
        const bool is_part = kind == EventKind::body || kind == EventKind::writable;
        if (is_part && words[1] == slot) withdraw(index);
    }
    if (collector_) {
        collector_->slots.push_back(slot);
        responses_.free(slot);
    } else {
        entry->response = {};
        push_event(EventKind::aborted, 0, slot, 0, 0);
    }
}

// --- The turn ------------------------------------------------------------------------------------

void Environment::on_ready() {
    if (is_dead_) return;
    if (loop_->turn()) loop_->wake();
    update_keep_alive();
}

void Environment::update_keep_alive() {
    if (uv_ && !is_dead_) uv_->set_keeps_alive(loop_->has_work());
}

// The crossing, or several, if answers have to leave in between.
void Environment::dispatch() {
    const std::span<char> memory = event_memory_.bytes;
    const auto capacity =
        static_cast<uint32_t>((memory.size() - events_begin) / sizeof(EventWords));
    while (!is_dead_ && next_event_ < event_count()) {
        const auto left = std::span<const EventWords>{events_}.subspan(next_event_);
        shown_events_ = std::min(pace_.next_part(left), capacity);
        const uint32_t count = shown_events_;
        const std::array head{count, batch_};
        std::memcpy(memory.data(), head.data(), sizeof head);
        std::memcpy(memory.data() + events_begin, left.data(), count * sizeof(EventWords));
        const auto begin = std::chrono::steady_clock::now();
        call_dispatcher();
        const auto spent = std::chrono::steady_clock::now() - begin;
        run_commands();
        pace_.note(std::span<const EventWords>{events_}.subspan(next_event_, count), spent);
        forget_consumed(next_event_, count);
        next_event_ += count;
        shown_events_ = 0;
        if (next_event_ < event_count()) loop_->flush();
    }
    events_.clear();
    requests_.clear();
    has_parts_ = false;
    next_event_ = 0;
    ++batch_;
}

void Environment::call_dispatcher() {
    const HandleScope scope(env_);
    napi_value dispatcher = nullptr;
    napi_value result = nullptr;
    napi_get_reference_value(env_, dispatcher_, &dispatcher);
    is_crossing_ = true;
    const napi_status status =
        napi_make_callback(env_, async_context_, dispatcher, dispatcher, 0, nullptr, &result);
    is_crossing_ = false;
    if (status != napi_ok) report_crossing_failure();
}

// The dispatcher catches what handlers throw. What arrives here was thrown by a microtask or a
// tick, or the environment is being terminated.
void Environment::report_crossing_failure() {
    bool is_pending = false;
    napi_is_exception_pending(env_, &is_pending);
    napi_value exception = nullptr;
    is_dead_ = !is_pending || napi_get_and_clear_last_exception(env_, &exception) != napi_ok;
    if (!is_dead_) napi_fatal_exception(env_, exception);
}

// JavaScript has seen these aborts: their slots may be used again.
void Environment::forget_consumed(size_t first, size_t count) {
    for (size_t index = first; index < first + count; ++index) {
        const EventWords& words = events_[index];
        if (words[0] == static_cast<uint32_t>(EventKind::aborted)) responses_.free(words[1]);
    }
}

void Environment::flush() {
    if (!is_crossing_) flush_now();
}

void Environment::flush_now() {
    run_commands();
    loop().flush();
    update_keep_alive();
}

}  // namespace millrace::node
