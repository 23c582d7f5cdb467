// One request and its answer: the answer's state, its place in the pipeline, and what is held of
// the request's body.
//
// An Exchange is a slot of a pool that lives as long as the loop. A handle of the public API names
// a slot and a generation; the generation changes when the answer is complete or aborted, so that a
// late call is recognised and can never reach another request.
#pragma once

#include "core/net/send_queue.h"
#include "core/server/handler.h"
#include "core/server/response_head.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace millrace::server {

class Connection;

// Where an answer is.
//
//   head --write--> chunked --end--> complete
//     |--write, HTTP/1.0--> until_close --end--> complete
//     |--try_end--> sized --all bytes--> complete
//      \--end--> complete
enum class AnswerState : uint8_t { head, chunked, until_close, sized, complete };

// What of its request decides over the framing of an answer.
struct RequestTraits {
    bool is_head = false;
    bool is_connect = false;
    bool is_http_1_0 = false;
    bool keep_alive = true;
    bool has_body = false;
};

class Exchange {
  public:
    struct TryEnd {
        bool accepted = false;
        bool done = false;
    };

    // --- Identity --------------------------------------------------------------------------------
    uint32_t generation() const { return generation_; }
    Connection& connection() const { return *connection_; }
    RequestTraits traits() const { return traits_; }
    // Of the embedder's own; gone when the exchange is.
    uint64_t tag = 0;
    std::shared_ptr<void> attachment;

    // --- The answer ------------------------------------------------------------------------------
    AnswerState state() const { return state_; }
    ResponseHead& head() { return head_; }

    void end(std::string_view body);
    // With a head that was made before, in place of head().
    void end_with(const ResponseHead& head, std::string_view body);
    void end_without_body(std::optional<uint64_t> reported_bytes);

    // False if bytes are queued.
    bool write(std::string_view chunk);
    void begin_write();

    // `chunk` must not be more than what is missing of `total_bytes`.
    TryEnd try_end(std::string_view chunk, uint64_t total_bytes);
    // Bytes missing of a sized answer.
    uint64_t missing_bytes() const { return total_bytes_ - accepted_bytes_; }
    uint64_t total_bytes() const { return total_bytes_; }
    uint64_t accepted_bytes() const { return accepted_bytes_; }
    // Output that waits for the peer, or for the answers before it.
    uint64_t queued_bytes() const;
    void notify_writable();

    // --- The request's body ----------------------------------------------------------------------
    // Keeps a piece that nobody reads yet.
    void hold_body(std::string_view data, bool is_last);
    // The same for a piece that had been delivered in this batch.
    void hold_body_again(std::string_view data, bool is_last);
    // Nothing of it is wanted any more.
    void drop_body();
    bool holds_body() const { return is_holding_; }
    size_t held_bytes() const { return held_body_.bytes(); }
    void pause_body() { is_paused_ = true; }
    void resume_body();
    // Has what is held delivered, unless it is paused.
    void release_body();
    bool is_body_paused() const { return is_paused_; }
    // True once somebody has asked for the body: what is held may be delivered.
    bool is_body_released() const { return is_released_ && !is_paused_; }
    // Moves up to `bytes_max` of what is held to `into`; returns how much.
    size_t take_held(char* into, size_t bytes_max);
    // Nothing is held any more, and what was held ended the body.
    bool held_all() const { return !is_holding_ && held_last_; }
    // Notes that batch `number` has a piece of what was held, and that more is held behind it.
    void note_part(uint64_t number) { part_batch_ = number; }
    bool gave_part(uint64_t number) const { return part_batch_ == number; }

    // The connection ends with this answer.
    void close_after() { closes_ = true; }

  private:
    friend class Connection;
    friend class ExchangePool;

    enum class Framing : uint8_t { length, chunked, none };

    bool is_first() const;
    bool may_have_body(const ResponseHead& head) const;
    Framing length_framing(const ResponseHead& head) const;
    size_t head_room(const ResponseHead& head) const;
    char* encode_head(const ResponseHead& head, Framing framing, uint64_t length, char* out) const;
    void send_message(const ResponseHead& head, std::string_view body);
    void send_chunk(std::string_view chunk, std::string_view behind);
    void send(std::string_view head, std::string_view body);
    char* begin_output(size_t bytes);
    void commit_output(const char* begin, const char* end);
    void complete();
    void start(Connection& connection, const RequestTraits& traits);

    Connection* connection_ = nullptr;
    Exchange* next_ = nullptr;  // the next request of the connection, or the next free slot
    uint32_t generation_ = 0;
    AnswerState state_ = AnswerState::complete;
    RequestTraits traits_;
    bool closes_ = false;  // the connection ends with this answer
    bool wants_writable_ = false;
    bool is_paused_ = false;
    bool is_holding_ = false;  // something of the body is held: later pieces must queue behind it
    bool held_last_ = false;   // and the body ends with it
    bool is_released_ = false;
    uint64_t part_batch_ = 0;
    uint64_t total_bytes_ = 0;
    uint64_t accepted_bytes_ = 0;
    net::SendQueue behind_;  // output that waits for the answers before it
    net::SendQueue held_body_;
    // Last, since it is large: what most exchanges use of the rest lies close together.
    ResponseHead head_;
};

class ExchangePool {
  public:
    Exchange& take();
    void give_back(Exchange& exchange);

  private:
    static constexpr size_t block_size = 64;

    std::vector<std::unique_ptr<Exchange[]>> blocks_;
    Exchange* free_ = nullptr;
};

}  // namespace millrace::server
