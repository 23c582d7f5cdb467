#include "core/server/connection.h"

#include "core/base/assert.h"
#include "core/net/sys.h"
#include "core/server/server.h"
#include "core/server/server_loop.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

namespace millrace::server {
namespace {

constexpr int64_t never = std::numeric_limits<int64_t>::max();

}  // namespace

Connection::Connection(Server& server, int fd)
    : loop_(server.loop()),
      server_(server),
      fd_(fd),
      head_since_ms_(loop_.events().now_ms()),
      activity_ms_(head_since_ms_) {}

Connection::~Connection() { MR_ASSERT(phase_ == Phase::closed); }

bool Connection::start() {
    server_.add(*this);
    if (loop_.events().watch(fd_, *this) < 0) {
        close();
        return false;
    }
    update_deadline();
    return true;
}

void Connection::on_ready(net::Readiness ready) {
    if (ready.broken) return close();
    peer_finished_ |= ready.peer_finished;
    can_read_ |= ready.readable || ready.peer_finished;
    if (ready.writable && is_output_blocked_) drain_queue();
    pump_input();
}

void Connection::close() {
    if (!is_open()) return;
    phase_ = Phase::closed;
    loop_.events().disarm(*this);
    loop_.events().unwatch(fd_, *this);
    net::sys::close(fd_);
    fd_ = -1;
    loop_.forget(*this);
    corked_ = {};
    queue_.clear();
    server_.remove(*this);
    loop_.events().dispose(std::unique_ptr<net::Disposable>(this));
    abort_exchanges();
}

void Connection::abort_exchanges() {
    receiving_ = nullptr;
    while (first_) {
        Exchange& exchange = *first_;
        first_ = exchange.next_;
        --pipelined_;
        abort(exchange);
    }
    last_ = nullptr;
}

// Tells the handler, if the answer was not complete, and gives the slot back.
void Connection::abort(Exchange& exchange) {
    const bool was_complete = exchange.state_ == AnswerState::complete;
    exchange.state_ = AnswerState::complete;
    if (!was_complete) {
        ++exchange.generation_;
        ++server_.counters().aborted;
        loop_.count_event();
        server_.handler().on_aborted(exchange);
    }
    free_exchange(exchange);
}

void Connection::free_exchange(Exchange& exchange) { loop_.exchanges().give_back(exchange); }

// --- Output ------------------------------------------------------------------------------------

char* Connection::begin_output(size_t bytes) {
    loop_.touch(*this);
    if (!queue_.empty()) return loop_.scratch(bytes);
    Cork& cork = loop_.cork();
    if (!cork.has_room(bytes)) {
        loop_.flush_gathered();
        if (!queue_.empty() || !cork.has_room(bytes)) return loop_.scratch(bytes);
    }
    return cork.begin(*this, corked_, bytes);
}

void Connection::commit_output(const char* begin, const char* end) {
    if (loop_.cork().owns(begin))
        loop_.cork().commit(end);
    else
        write_through({begin, static_cast<size_t>(end - begin)}, {});
}

void Connection::write_through(std::string_view head, std::string_view body) {
    loop_.touch(*this);
    const size_t taken = send_pieces(head, body);
    if (is_broken_) return;
    queue_.append(body.substr(taken));
    // The kernel may have taken all that it was offered, which was not all that there is.
    if (!queue_.empty() && !is_output_blocked_) drain_queue();
}

size_t Connection::write_now(std::string_view body) {
    loop_.touch(*this);
    return send_pieces({}, body);
}

// Writes what is gathered, then `head`, then `body`, in one call. What is left of the first two is
// queued; returns how much of `body` was taken.
size_t Connection::send_pieces(std::string_view head, std::string_view body) {
    if (is_broken_) {
        corked_ = {};
        return 0;
    }
    if (!queue_.empty() || is_output_blocked_) {
        queue_unsent(head, 0);
        return 0;
    }
    constexpr size_t pieces_max = 64;
    std::array<iovec, pieces_max> pieces;
    size_t count = 0;
    const Cork& cork = loop_.cork();
    const auto add = [&](std::string_view text) {
        if (!text.empty()) pieces[count++] = {const_cast<char*>(text.data()), text.size()};
    };
    size_t before_body = head.size();
    uint32_t index = corked_.first;
    for (; index != Cork::no_segment && count < pieces_max - 2; index = cork.segment(index).next) {
        add(cork.text(cork.segment(index)));
        before_body += cork.text(cork.segment(index)).size();
    }
    const bool is_whole = index == Cork::no_segment;
    if (is_whole) {
        add(head);
        add(body);
    } else {
        before_body -= head.size();
    }
    if (count == 0) {
        corked_ = {};  // of segments without bytes
        return 0;
    }
    const auto* first = static_cast<const char*>(pieces[0].iov_base);
    const int64_t result = count == 1 ? net::sys::send(fd_, first, pieces[0].iov_len)
                                      : net::sys::send_gathered(fd_, pieces.data(), count);
    const size_t wanted = before_body + (is_whole ? body.size() : 0);
    const size_t sent = note_sent(result, wanted);
    if (is_broken_) return 0;
    if (is_whole && sent == wanted)
        corked_ = {};
    else
        queue_unsent(head, std::min(sent, before_body));
    if (!is_whole && sent == wanted) drain_queue();
    return sent > before_body ? sent - before_body : 0;
}

// Notes the result of a first send of `wanted_bytes`; returns how much was sent.
size_t Connection::note_sent(int64_t result, size_t wanted_bytes) {
    ++loop_.counters().sends;
    if (result < 0 && result != -EAGAIN && result != -EWOULDBLOCK) {
        mark_broken();
        return 0;
    }
    const size_t sent = result < 0 ? 0 : static_cast<size_t>(result);
    loop_.counters().sent_bytes += sent;
    if (sent < wanted_bytes) {
        is_output_blocked_ = true;
        output_since_ms_ = loop_.events().now_ms();
    }
    return sent;
}

std::string_view Connection::output_for_group() const {
    const bool is_one = !corked_.is_empty() && corked_.first == corked_.last;
    if (!is_one || is_broken_ || is_output_blocked_ || !queue_.empty()) return {};
    return loop_.cork().text(loop_.cork().segment(corked_.first));
}

void Connection::on_group_sent(int64_t result, size_t wanted_bytes) {
    const size_t sent = note_sent(result, wanted_bytes);
    if (is_broken_) return;
    if (sent == wanted_bytes)
        corked_ = {};
    else
        queue_unsent({}, sent);
}

// Queues what is gathered and `head`, but for their first `sent` bytes.
void Connection::queue_unsent(std::string_view head, size_t sent) {
    const auto queue = [&](std::string_view text) {
        const size_t skipped = std::min(sent, text.size());
        sent -= skipped;
        queue_.append(text.substr(skipped));
    };
    const Cork& cork = loop_.cork();
    for (uint32_t index = corked_.first; index != Cork::no_segment;
         index = cork.segment(index).next)
        queue(cork.text(cork.segment(index)));
    corked_ = {};
    queue(head);
}

void Connection::drain_queue() {
    is_output_blocked_ = false;
    while (!queue_.empty()) {
        constexpr size_t pieces_max = 16;
        std::array<iovec, pieces_max> pieces;
        const size_t count = queue_.pieces(pieces.data(), pieces_max);
        size_t wanted = 0;
        for (size_t index = 0; index < count; ++index)
            wanted += pieces[index].iov_len;
        const int64_t result = net::sys::send_gathered(fd_, pieces.data(), count);
        ++loop_.counters().sends;
        if (result < 0 && result != -EAGAIN && result != -EWOULDBLOCK) return mark_broken();
        const size_t sent = result < 0 ? 0 : static_cast<size_t>(result);
        queue_.consume(sent);
        loop_.counters().sent_bytes += sent;
        if (sent > 0) output_since_ms_ = loop_.events().now_ms();
        if (sent < wanted) {
            is_output_blocked_ = true;
            break;
        }
    }
    loop_.touch(*this);
}

// Whoever is writing must not find itself aborted in the midst of it, so the close waits for the
// flush.
void Connection::mark_broken() {
    is_broken_ = true;
    corked_ = {};
    queue_.clear();
    loop_.touch(*this);
}

void Connection::flush_gathered() {
    if (is_open() && !corked_.is_empty()) send_pieces({}, {});
}

void Connection::flush() {
    flush_gathered();
    if (is_broken_) return close();
    after_output();
}

// --- The pipeline ------------------------------------------------------------------------------

void Connection::on_complete(Exchange& exchange) {
    loop_.touch(*this);
    if (receiving_ == &exchange) {
        receiving_ = nullptr;
        discarded_bytes_ = 0;
        activity_ms_ = loop_.events().now_ms();
    }
    exchange.drop_body();
    if (exchange.closes_) {
        takes_requests_ = false;
        head_since_ms_ = 0;  // the head that has begun will not be answered
        server_initiated_close_ |= exchange.traits_.keep_alive;
    }
    if (first_ == &exchange) advance_pipeline();
}

void Connection::advance_pipeline() {
    while (first_ && first_->state_ == AnswerState::complete) {
        Exchange& done = *first_;
        const bool ends_connection = done.closes_;
        first_ = done.next_;
        if (!first_) last_ = nullptr;
        --pipelined_;
        free_exchange(done);
        activity_ms_ = loop_.events().now_ms();
        if (ends_connection) {
            closes_when_drained_ = true;
            return abort_exchanges();
        }
        if (first_ && !first_->behind_.empty()) append_behind(*first_);
    }
}

// Moves the output of an answer whose turn has come to the connection.
void Connection::append_behind(Exchange& exchange) {
    constexpr size_t pieces_max = 16;
    std::array<iovec, pieces_max> pieces;
    while (!exchange.behind_.empty()) {
        const size_t count = exchange.behind_.pieces(pieces.data(), pieces_max);
        size_t moved = 0;
        for (size_t index = 0; index < count; ++index) {
            const auto* bytes = static_cast<const char*>(pieces[index].iov_base);
            char* const begin = begin_output(pieces[index].iov_len);
            std::copy_n(bytes, pieces[index].iov_len, begin);
            commit_output(begin, begin + pieces[index].iov_len);
            moved += pieces[index].iov_len;
        }
        exchange.behind_.consume(moved);
    }
}

void Connection::notify_writable() {
    if (!first_ || !first_->wants_writable_ || is_output_blocked_ || !queue_.empty()) return;
    first_->wants_writable_ = false;
    loop_.count_event();
    server_.handler().on_writable(*first_);
}

// Looks after what may follow now that output has moved.
void Connection::after_output() {
    if (!is_open() || phase_ == Phase::lingering) return;
    if (queue_.empty() && corked_.is_empty()) {
        if (closes_when_drained_ && !first_) return finish();
        if (input_ended_ && !first_ && !held_is_blocked_) return close();
        notify_writable();
        if (!is_open()) return;
    }
    const bool has_input = held_is_blocked_ || (can_read_ && !input_ended_) || has_released_;
    if (has_input && !is_processing_ && (can_take_input() || has_released_))
        loop_.events().again(*this);
    update_deadline();
}

// Ends the connection after its last answer.
void Connection::finish() {
    const bool may_have_unread = can_read_ || !held_input_.empty() || !body_.is_complete();
    if (input_ended_ || (!may_have_unread && !server_initiated_close_)) return close();
    // A close with unread bytes sends a reset, and a reset makes the peer throw away the answer
    // that it has not read yet. So only the sending side ends now. RFC 9112 section 9.6.
    phase_ = Phase::lingering;
    takes_requests_ = false;
    held_input_ = {};
    activity_ms_ = loop_.events().now_ms();
    net::sys::shutdown_send(fd_);
    loop_.events().again(*this);
    update_deadline();
}

// --- Timeouts ----------------------------------------------------------------------------------

int64_t Connection::deadline_ms() const {
    const HttpLimits& limits = server_.settings().limits;
    if (phase_ == Phase::lingering) return activity_ms_ + limits.linger_timeout_ms;
    int64_t deadline = never;
    if (is_output_blocked_) deadline = output_since_ms_ + limits.write_stall_timeout_ms;
    if (!body_.is_complete()) {
        if (can_take_input())
            deadline = std::min(deadline, activity_ms_ + limits.body_idle_timeout_ms);
    } else if (head_since_ms_ != 0) {
        if (!held_is_blocked_)
            deadline = std::min(deadline, head_since_ms_ + limits.head_timeout_ms);
    } else if (!first_ && !is_output_blocked_) {
        const int64_t since_ms = std::max(activity_ms_, output_since_ms_);
        deadline = std::min(deadline, since_ms + limits.keep_alive_timeout_ms);
    }
    return deadline;
}

// Deadlines move with every request, the timer does not: it is set anew only for an earlier
// deadline, and looks again when it fires too early for the present one.
void Connection::update_deadline() {
    const int64_t deadline = deadline_ms();
    if (deadline == never || (armed_ms_ != 0 && armed_ms_ <= deadline)) return;
    armed_ms_ = deadline;
    loop_.events().arm(*this, deadline);
}

void Connection::on_timer() {
    armed_ms_ = 0;
    if (deadline_ms() > loop_.events().now_ms()) return update_deadline();
    on_timeout();
}

void Connection::on_timeout() {
    if (phase_ == Phase::lingering) return close();
    ++server_.counters().timeouts;
    const bool is_head_late = body_.is_complete() && head_since_ms_ != 0 && !is_output_blocked_;
    // A peer that has sent nothing is owed no answer; one that sent half a request is told why.
    if (is_head_late && !held_input_.empty()) return reject(HttpError::head_timeout);
    close();
}

}  // namespace millrace::server
