#include "core/server/exchange.h"

#include "core/base/assert.h"
#include "core/base/bytes.h"
#include "core/http/response_encoder.h"
#include "core/server/connection.h"
#include "core/server/server_loop.h"

#include <algorithm>
#include <cstring>

namespace millrace::server {
namespace {

// A body up to here is copied into the turn's gathered write; a larger one is handed to the kernel
// as it lies.
constexpr size_t gather_bytes_max = 16 * KiB;

// Room for what encode_head() adds to the program's lines: a Connection field, Date, the framing
// field with 20 digits, and the empty line.
constexpr size_t own_fields_bytes = 128;

// Hexadecimal size and the line ends around a chunk, and the last chunk behind it.
constexpr size_t chunk_framing_bytes = 16 + 2 + 2 + 5;
constexpr std::string_view last_chunk = "0\r\n\r\n";

char* put(char* out, std::string_view text) {
    if (!text.empty()) std::memcpy(out, text.data(), text.size());
    return out + text.size();
}

}  // namespace

void Exchange::start(Connection& connection, const RequestTraits& traits) {
    connection_ = &connection;
    next_ = nullptr;
    state_ = AnswerState::head;
    traits_ = traits;
    tag = 0;
    closes_ = !traits.keep_alive || traits.is_connect;
    wants_writable_ = is_paused_ = is_holding_ = held_last_ = is_released_ = false;
    total_bytes_ = accepted_bytes_ = part_batch_ = 0;
    head_.clear();
}

bool Exchange::is_first() const { return connection_->first() == this; }

// RFC 9112 section 6.3, rules 1 and 2: answers that never have a body.
bool Exchange::may_have_body(const ResponseHead& head) const {
    if (traits_.is_head || head.status == 204 || head.status == 304) return false;
    return !(traits_.is_connect && head.is_success());
}

Exchange::Framing Exchange::length_framing(const ResponseHead& head) const {
    // RFC 9110 section 8.6: no Content-Length in 204, nor in 2xx to CONNECT. In 304 it would have
    // to be that of the 200, which only the program knows.
    if (head.status == 204) return Framing::none;
    if (head.status == 304 && !head.declared_length) return Framing::none;
    if (traits_.is_connect && head.is_success()) return Framing::none;
    return Framing::length;
}

size_t Exchange::head_room(const ResponseHead& head) const {
    return head.size() + own_fields_bytes;
}

char* Exchange::encode_head(const ResponseHead& head, Framing framing, uint64_t length,
                            char* out) const {
    out = put(out, head.first_line());
    out = put(out, head.fields.view());
    if (closes_) {
        if (!head.closes) out = put(out, "Connection: close\r\n");
    } else if (traits_.is_http_1_0 && !head.has_connection) {
        out = put(out, "Connection: keep-alive\r\n");
    }
    if (!head.has_date) out = put(out, {connection_->loop().date().data(), DateLine::bytes});
    if (framing == Framing::length) {
        out = put(out, "Content-Length: ");
        out = http::format_decimal(length, out);
        return put(out, "\r\n\r\n");
    }
    if (framing == Framing::chunked) return put(out, "Transfer-Encoding: chunked\r\n\r\n");
    return put(out, "\r\n");
}

char* Exchange::begin_output(size_t bytes) {
    return is_first() ? connection_->begin_output(bytes) : connection_->loop().scratch(bytes);
}

void Exchange::commit_output(const char* begin, const char* end) {
    if (is_first())
        connection_->commit_output(begin, end);
    else
        behind_.append({begin, static_cast<size_t>(end - begin)});
}

void Exchange::send(std::string_view head, std::string_view body) {
    if (body.size() > gather_bytes_max && is_first()) {
        connection_->write_through(head, body);
        return;
    }
    char* const begin = begin_output(head.size() + body.size());
    commit_output(begin, put(put(begin, head), body));
}

void Exchange::send_message(const ResponseHead& head, std::string_view body) {
    closes_ |= head.closes;
    const bool has_body = may_have_body(head);
    const uint64_t length = has_body ? body.size() : head.declared_length.value_or(body.size());
    const Framing framing = length_framing(head);
    if (!has_body) body = {};
    accepted_bytes_ += body.size();
    const size_t room = head_room(head);
    if (body.size() > gather_bytes_max) {
        char* const begin = connection_->loop().scratch(room);
        const char* const end = encode_head(head, framing, length, begin);
        const std::string_view encoded{begin, static_cast<size_t>(end - begin)};
        if (is_first()) return connection_->write_through(encoded, body);
        behind_.append(encoded);
        return behind_.append(body);
    }
    char* const begin = begin_output(room + body.size());
    commit_output(begin, put(encode_head(head, framing, length, begin), body));
}

void Exchange::end(std::string_view body) {
    switch (state_) {
        case AnswerState::head:
            send_message(head_, body);
            break;
        case AnswerState::chunked:
            send_chunk(body, last_chunk);
            break;
        case AnswerState::until_close:
        case AnswerState::sized:
            MR_ASSERT(state_ != AnswerState::sized || body.size() == missing_bytes());
            if (may_have_body(head_)) send({}, body);
            break;
        case AnswerState::complete:
            MR_ASSERT(false);
            return;
    }
    complete();
}

void Exchange::end_with(const ResponseHead& head, std::string_view body) {
    MR_ASSERT(state_ == AnswerState::head);
    send_message(head, body);
    complete();
}

void Exchange::end_without_body(std::optional<uint64_t> reported_bytes) {
    if (state_ != AnswerState::head) return end({});
    // Whatever the method, the peer must be able to tell where the answer ends: without a length,
    // an answer that could have had a body says that it is empty.
    closes_ |= head_.closes;
    if (!reported_bytes) reported_bytes = head_.declared_length;
    const bool is_bodiless = !may_have_body(head_);
    if (reported_bytes && *reported_bytes > 0 && !is_bodiless) closes_ = true;
    const Framing framing =
        reported_bytes || !is_bodiless || !traits_.is_head ? length_framing(head_) : Framing::none;
    char* const begin = begin_output(head_room(head_));
    commit_output(begin, encode_head(head_, framing, reported_bytes.value_or(0), begin));
    complete();
}

void Exchange::begin_write() {
    if (state_ != AnswerState::head) return;
    closes_ |= head_.closes;
    const bool has_body = may_have_body(head_);
    Framing framing = Framing::chunked;
    if (traits_.is_http_1_0) {
        // RFC 9112 section 6.3, rule 8: the end of the connection ends the body.
        framing = Framing::none;
        closes_ |= has_body;
        state_ = AnswerState::until_close;
    } else {
        if (!has_body && !traits_.is_head) framing = Framing::none;
        state_ = AnswerState::chunked;
    }
    char* const begin = begin_output(head_room(head_));
    commit_output(begin, encode_head(head_, framing, 0, begin));
}

bool Exchange::write(std::string_view chunk) {
    if (!chunk.empty()) {
        begin_write();
        accepted_bytes_ += chunk.size();
        if (state_ == AnswerState::chunked)
            send_chunk(chunk, {});
        else if (may_have_body(head_))
            send({}, chunk);
    }
    const bool is_taken = is_first() && !connection_->has_queued_output();
    wants_writable_ |= !is_taken;
    return is_taken;
}

void Exchange::send_chunk(std::string_view chunk, std::string_view behind) {
    if (!may_have_body(head_)) return;
    if (chunk.size() > gather_bytes_max) {
        char size_line[18];
        const char* const end = http::format_chunk_size(chunk.size(), size_line);
        send({size_line, static_cast<size_t>(end - size_line)}, chunk);
        send("\r\n", behind);
        return;
    }
    char* const begin = begin_output(chunk.size() + chunk_framing_bytes);
    char* out = begin;
    if (!chunk.empty()) {
        out = http::format_chunk_size(chunk.size(), out);
        out = put(put(out, chunk), "\r\n");
    }
    commit_output(begin, put(out, behind));
}

Exchange::TryEnd Exchange::try_end(std::string_view chunk, uint64_t total_bytes) {
    if (state_ == AnswerState::head) {
        if (total_bytes == 0) total_bytes = chunk.size();
        const bool is_whole = chunk.size() == total_bytes && chunk.size() <= gather_bytes_max;
        if (is_whole || !may_have_body(head_)) {
            head_.declared_length = total_bytes;
            end(chunk);
            return {true, true};
        }
        if (!is_first()) {
            wants_writable_ = true;
            return {};
        }
        closes_ |= head_.closes;
        total_bytes_ = total_bytes;
        state_ = AnswerState::sized;
        char* const begin = begin_output(head_room(head_));
        commit_output(begin, encode_head(head_, Framing::length, total_bytes, begin));
    }
    const size_t taken = is_first() ? connection_->write_now(chunk) : 0;
    accepted_bytes_ += taken;
    if (missing_bytes() == 0) {
        complete();
        return {true, true};
    }
    wants_writable_ |= taken < chunk.size();
    return {taken == chunk.size(), false};
}

uint64_t Exchange::queued_bytes() const {
    return behind_.bytes() + (is_first() ? connection_->queued_bytes() : 0);
}

void Exchange::notify_writable() {
    wants_writable_ = true;
    connection_->loop().touch(*connection_);
}

void Exchange::hold_body(std::string_view data, bool is_last) {
    held_body_.append(data);
    is_holding_ = true;
    held_last_ |= is_last;
}

void Exchange::hold_body_again(std::string_view data, bool is_last) {
    is_released_ = false;
    if (!is_holding_ || !gave_part(connection_->loop().batch_number()))
        return hold_body(data, is_last);
    held_body_.prepend(data);
}

void Exchange::drop_body() {
    held_body_.clear();
    is_holding_ = is_released_ = false;
}

void Exchange::release_body() {
    is_released_ = true;
    connection_->poke_input();
}

void Exchange::resume_body() {
    is_paused_ = false;
    release_body();
}

size_t Exchange::take_held(char* into, size_t bytes_max) {
    const size_t count = held_body_.copy_to(into, bytes_max);
    held_body_.consume(count);
    is_holding_ = !held_body_.empty();
    return count;
}

void Exchange::complete() {
    state_ = AnswerState::complete;
    ++generation_;
    connection_->on_complete(*this);
}

Exchange& ExchangePool::take() {
    if (!free_) {
        auto block = std::make_unique<Exchange[]>(block_size);
        for (size_t index = block_size; index-- > 0;) {
            block[index].next_ = free_;
            free_ = &block[index];
        }
        blocks_.push_back(std::move(block));
    }
    Exchange& taken = *free_;
    free_ = taken.next_;
    return taken;
}

void ExchangePool::give_back(Exchange& exchange) {
    exchange.connection_ = nullptr;
    exchange.attachment.reset();
    exchange.behind_.clear();
    exchange.held_body_.clear();
    exchange.next_ = free_;
    free_ = &exchange;
}

}  // namespace millrace::server
