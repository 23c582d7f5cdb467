// The way in: bytes from the socket to heads, bodies and handlers.
#include "core/base/assert.h"
#include "core/http/response_encoder.h"
#include "core/net/sys.h"
#include "core/server/connection.h"
#include "core/server/server.h"
#include "core/server/server_loop.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace millrace::server {
namespace {

// At most this much room is offered to a read: a connection that always has more must leave a
// turn's arena to the others.
constexpr size_t read_bytes_max = 64 * KiB;

RequestTraits traits_of(const http::RequestHead& head) {
    return {
        .is_head = head.method_id == http::Method::head,
        .is_connect = head.method_id == http::Method::connect,
        .is_http_1_0 = head.minor_version == 0,
        .keep_alive = head.keep_alive,
        .has_body = false,
    };
}

}  // namespace

// Whether more of the peer's bytes can be used now.
bool Connection::can_take_input() const {
    if (phase_ != Phase::open || closes_when_drained_ || is_broken_) return false;
    const HttpLimits& limits = server_.settings().limits;
    if (body_.is_complete()) return takes_requests_ && pipelined_ < limits.pipeline_max;
    if (!receiving_) return true;  // to discard
    if (receiving_->is_body_paused()) return false;
    return !receiving_->holds_body() || receiving_->held_bytes() < limits.body_hold_bytes_max;
}

void Connection::pump_input() {
    if (phase_ == Phase::lingering) return discard_input();
    if (has_released_) deliver_released();
    if (is_open() && held_is_blocked_ && can_take_input()) process_held();
    if (is_open() && can_read_ && !held_is_blocked_ && can_take_input()) read_once();
    if (!is_open() || phase_ != Phase::open) return;
    const bool has_input = held_is_blocked_ || (can_read_ && !input_ended_);
    if (has_released_ || (has_input && can_take_input())) loop_.events().again(*this);
    update_deadline();
}

void Connection::poke_input() {
    has_released_ = true;
    // While nobody wanted to read, the peer could not make progress.
    activity_ms_ = loop_.events().now_ms();
    loop_.events().again(*this);
}

void Connection::read_once() {
    const size_t held = held_input_.size();
    loop_.make_room(held + read_bytes_min);
    if (!is_open() || !can_take_input()) return;
    ReceiveArena& arena = loop_.arena();
    char* const begin = arena.begin();
    const size_t room = std::min(arena.room() - held, read_bytes_max);
    const int64_t result = net::sys::receive(fd_, begin + held, room);
    ++loop_.counters().receives;
    if (result == 0) {
        can_read_ = false;
        return on_peer_finished();
    }
    if (result < 0) {
        can_read_ = false;
        if (result != -EAGAIN && result != -EWOULDBLOCK) close();
        return;
    }
    const auto received = static_cast<size_t>(result);
    // A short read has emptied the socket (epoll(7)); only a FIN may be left, which was reported.
    if (received < room && !peer_finished_) can_read_ = false;
    loop_.counters().received_bytes += received;
    activity_ms_ = loop_.events().now_ms();
    if (held > 0) {
        std::memcpy(begin, held_input_.data(), held);
        held_input_.clear();
        if (held_input_.capacity() > KiB) held_input_.shrink_to_fit();
    }
    arena.take(held + received);
    process(PaddedBytes::promise(begin, held + received));
}

// Goes on with input that had to wait.
void Connection::process_held() {
    const size_t held = held_input_.size();
    loop_.make_room(held);
    if (!is_open() || !can_take_input()) return;
    char* const begin = loop_.arena().begin();
    std::memcpy(begin, held_input_.data(), held);
    loop_.arena().take(held);
    held_input_ = {};
    held_is_blocked_ = false;
    head_since_ms_ = 0;  // it was the engine that did not read on
    process(PaddedBytes::promise(begin, held));
}

void Connection::process(PaddedBytes bytes) {
    MR_ASSERT(!is_processing_);
    is_processing_ = true;
    bool is_blocked = false;
    while (is_open() && phase_ == Phase::open && !bytes.empty()) {
        if (body_.is_complete() && !takes_requests_) {
            // RFC 9112 section 9.6: nothing behind the last request may be processed.
            bytes = bytes.from(bytes.size());
            break;
        }
        is_blocked = !can_take_input();
        if (is_blocked) break;
        const bool goes_on = body_.is_complete() ? take_head(bytes) : feed_body(bytes);
        if (!goes_on) break;
    }
    is_processing_ = false;
    if (!is_open() || phase_ != Phase::open || bytes.empty()) return;
    if (body_.is_complete() && !takes_requests_) return;
    held_input_.assign(bytes.data(), bytes.size());
    held_is_blocked_ = is_blocked || !can_take_input();
    if (head_since_ms_ == 0 && body_.is_complete()) head_since_ms_ = loop_.events().now_ms();
}

// True if a head was taken off the front of `bytes`.
bool Connection::take_head(PaddedBytes& bytes) {
    const ServerSettings& settings = server_.settings();
    const auto records_mark = loop_.records.mark();
    const auto fields_mark = loop_.fields.mark();
    const auto parameters_mark = loop_.parameters.mark();
    // Not cleared: a complete head sets all of its members, routing the rest.
    RequestRecord& request = loop_.records.room(1).front();
    const http::HeadStep step = http::parse_head(
        bytes, settings.limits, loop_.fields.room(settings.limits.fields_max), request.head);
    if (step.verdict == Verdict::need_more) return false;
    if (step.verdict == Verdict::rejected) {
        reject(step.error);
        return false;
    }
    bytes = bytes.from(step.consumed_bytes);
    loop_.records.take(1);
    loop_.fields.take(request.head.fields.size());
    request.server = &server_;
    if (server_.is_draining() && request.head.keep_alive) {
        request.head.keep_alive = false;
        server_initiated_close_ = true;
    }
    head_since_ms_ = 0;
    ++server_.counters().requests;
    body_.start(request.head);
    Exchange& exchange = begin_exchange(traits_of(request.head));
    if (!body_.is_complete()) begin_body(exchange, request);
    // What follows a CONNECT is no request, whatever the answer.
    if (exchange.closes_) takes_requests_ = false;
    server_.dispatch(exchange, request);
    if (!settings.is_batched) {
        loop_.records.rewind(records_mark);
        loop_.fields.rewind(fields_mark);
        loop_.parameters.rewind(parameters_mark);
    }
    return true;
}

Exchange& Connection::begin_exchange(const RequestTraits& traits) {
    Exchange& exchange = loop_.exchanges().take();
    exchange.start(*this, traits);
    (last_ ? last_->next_ : first_) = &exchange;
    last_ = &exchange;
    ++pipelined_;
    return exchange;
}

void Connection::begin_body(Exchange& exchange, const RequestRecord& request) {
    exchange.traits_.has_body = true;
    receiving_ = &exchange;
    // RFC 9110 section 10.1.1. Behind an unanswered request there is no place for it: the peer will
    // send the body after a while of its own accord.
    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    if (!request.head.expects_continue || first_ != &exchange) return;
    char* const begin = begin_output(go_on.size());
    std::memcpy(begin, go_on.data(), go_on.size());
    commit_output(begin, begin + go_on.size());
}

// True if the body is complete and input may be left behind it.
bool Connection::feed_body(PaddedBytes& bytes) {
    while (!bytes.empty()) {
        const http::BodyDecoder::Step step = body_.next(bytes.text(), server_.settings().limits);
        bytes = bytes.from(step.consumed_bytes);
        if (step.verdict == Verdict::rejected) {
            reject(step.error);
            return false;
        }
        const bool is_last = step.verdict == Verdict::complete;
        if (!step.data.empty() || is_last) deliver(step.data, is_last);
        if (!is_open() || phase_ != Phase::open) return false;
        if (is_last) return true;
        if (!can_take_input()) return false;
    }
    return false;
}

void Connection::deliver(std::string_view data, bool is_last) {
    if (!receiving_) {
        discarded_bytes_ += data.size();
        if (discarded_bytes_ > server_.settings().limits.body_discard_bytes_max) {
            takes_requests_ = false;
            closes_when_drained_ = true;
            loop_.touch(*this);
        }
        return;
    }
    Exchange& exchange = *receiving_;
    if (is_last) receiving_ = nullptr;
    if (exchange.holds_body()) return exchange.hold_body(data, is_last);
    loop_.count_event();
    const BodyPart part{data, is_last, body_.remaining_bytes()};
    const uint32_t generation = exchange.generation();
    const BodyUse use = server_.handler().on_body(exchange, part);
    if (use == BodyUse::hold && exchange.generation() == generation)
        exchange.hold_body(data, is_last);
}

// The first exchange that has a piece to deliver in this batch. Notes whether one has more for the
// next batch.
Exchange* Connection::first_released() {
    has_released_ = false;
    for (Exchange* one = first_; one; one = one->next_) {
        if (!one->holds_body() || !one->is_body_released()) continue;
        has_released_ = true;
        if (!one->gave_part(loop_.batch_number())) return one;
    }
    return nullptr;
}

// What is still to come of the body of `exchange`, with `held_bytes` that are here already.
uint64_t Connection::remaining_bytes(const Exchange& exchange, size_t held_bytes) const {
    if (receiving_ != &exchange) return held_bytes;
    const uint64_t coming = body_.remaining_bytes();
    return coming == UINT64_MAX ? coming : coming + held_bytes;
}

// Delivers held bodies that somebody has asked for by now.
void Connection::deliver_released() {
    while (Exchange* exchange = first_released()) {
        const size_t wanted = std::min(exchange->held_bytes(), read_bytes_max);
        if (loop_.arena().room() < wanted) {
            loop_.make_room(wanted);
            if (!is_open()) return;
            continue;  // the batch that ended may have answered anything: look afresh
        }
        char* const begin = loop_.arena().begin();
        const size_t taken = exchange->take_held(begin, wanted);
        loop_.arena().take(taken);
        const bool is_last = exchange->held_all();
        const uint64_t remaining = remaining_bytes(*exchange, exchange->held_bytes());
        const BodyPart part{{begin, taken}, is_last, is_last ? 0 : remaining};
        const uint32_t generation = exchange->generation();
        // Whoever gives a piece back must be able to do so before the next one is out.
        if (exchange->holds_body()) exchange->note_part(loop_.batch_number());
        loop_.count_event();
        const BodyUse use = server_.handler().on_body(*exchange, part);
        if (!is_open()) return;
        if (use == BodyUse::taken || exchange->generation() != generation) continue;
        exchange->hold_body_again(part.data, is_last);
    }
}

// Answers a request that breaks the protocol or a limit, and ends the connection.
void Connection::reject(HttpError error) {
    ++server_.counters().rejected;
    takes_requests_ = false;
    server_initiated_close_ = true;
    head_since_ms_ = 0;
    held_input_ = {};
    held_is_blocked_ = false;
    const bool is_discarding = !body_.is_complete() && !receiving_;
    body_ = {};
    if (is_discarding) {
        // Its request has been answered.
        closes_when_drained_ = true;
        return loop_.touch(*this);
    }
    RequestTraits traits{.keep_alive = false};
    if (receiving_) {
        // The body of the last request is broken. If its answer is on the way already, there is no
        // place for another one.
        Exchange& exchange = *receiving_;
        if (exchange.state_ != AnswerState::head) return close();
        receiving_ = nullptr;
        traits.is_head = exchange.traits_.is_head;
        unlink_last(exchange);
        abort(exchange);
        if (!is_open()) return;
    }
    Exchange& answer = begin_exchange(traits);
    const HttpErrorInfo& row = info(error);
    const std::string code = std::to_string(row.status);
    answer.head().set_status(code);
    answer.head().add_field("content-type", "text/plain");
    answer.end(row.text);
}

void Connection::unlink_last(Exchange& exchange) {
    MR_ASSERT(last_ == &exchange);
    --pipelined_;
    last_ = nullptr;
    if (first_ == &exchange) {
        first_ = nullptr;
        return;
    }
    for (Exchange* one = first_; one; one = one->next_) {
        if (one->next_ != &exchange) continue;
        one->next_ = nullptr;
        last_ = one;
        return;
    }
}

void Connection::on_peer_finished() {
    input_ended_ = true;
    // RFC 9112 section 8: a body that was cut is an incomplete message.
    const bool is_cut = !body_.is_complete() && receiving_;
    const bool is_waiting = first_ || !queue_.empty() || !corked_.is_empty();
    if (phase_ == Phase::lingering || is_cut || !is_waiting) return close();
    // The peer sends no more, but may still read: what it asked for is answered.
    takes_requests_ = false;
    body_ = {};
    held_input_ = {};
    head_since_ms_ = 0;
    update_deadline();
}

// Reads and drops, so that the peer is not reset before it has read the last answer.
void Connection::discard_input() {
    constexpr int reads_per_turn = 4;
    for (int count = 0; count < reads_per_turn && can_read_; ++count) {
        loop_.make_room(read_bytes_min);
        if (!is_open()) return;
        ReceiveArena& arena = loop_.arena();
        const size_t room = std::min(arena.room(), read_bytes_max);
        const int64_t result = net::sys::receive(fd_, arena.begin(), room);
        if (result > 0) continue;
        can_read_ = false;
        if (result != -EAGAIN && result != -EWOULDBLOCK) return close();
    }
    if (can_read_) loop_.events().again(*this);
}

}  // namespace millrace::server
