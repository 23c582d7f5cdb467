// A connection: the corridor that leads bytes from the socket through the rooms to the handler, and
// answers back. The only place that knows them all.
//
// Lives until its descriptor is closed; destroyed at the end of that turn, so that a handler may
// close the connection that it is called from.
#pragma once

#include "core/base/bytes.h"
#include "core/http/body_framing.h"
#include "core/net/event_loop.h"
#include "core/net/send_queue.h"
#include "core/server/cork.h"
#include "core/server/exchange.h"
#include "millrace/http_error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::server {

class Server;
class ServerLoop;
struct RequestRecord;

class Connection final : public net::Watcher, public net::Timer, public net::Disposable {
  public:
    // Owns `fd`. Owned by itself: start() hands it to the loop, which destroys it after close().
    Connection(Server& server, int fd);
    ~Connection() override;

    // At least this much room is offered to a read.
    static constexpr size_t read_bytes_min = 16 * KiB;

    // False if the loop could not watch the descriptor; the connection is then gone.
    bool start();

    bool is_open() const { return phase_ != Phase::closed; }
    int descriptor() const { return fd_; }
    ServerLoop& loop() const { return loop_; }

    void on_ready(net::Readiness ready) override;
    void on_timer() override;

    // Closes at once; unanswered exchanges are aborted.
    void close();

    // --- For exchanges ---------------------------------------------------------------------------
    const Exchange* first() const { return first_; }
    bool has_queued_output() const { return !queue_.empty(); }
    size_t queued_bytes() const { return queue_.bytes(); }
    // Room for output; only for the first exchange.
    char* begin_output(size_t bytes);
    void commit_output(const char* begin, const char* end);
    // Output too large to be gathered: written at once, behind what is gathered; the rest is
    // queued.
    void write_through(std::string_view head, std::string_view body);
    // Writes what is gathered, and of `body` only what the kernel takes now; returns how much of
    // it.
    size_t write_now(std::string_view body);
    // The exchange's answer is complete.
    void on_complete(Exchange& exchange);
    // Something changed that may let input flow again.
    void poke_input();

    // --- For the loop ----------------------------------------------------------------------------
    void flush();
    // Writes out what is gathered, and calls nobody.
    void flush_gathered();
    // What is gathered, if it may leave in a send together with other connections' output;
    // otherwise nothing.
    std::string_view output_for_group() const;
    // What became of that send of `wanted_bytes`. Calls nobody.
    void on_group_sent(int64_t result, size_t wanted_bytes);

  private:
    friend class Server;      // the list of connections
    friend class ServerLoop;  // is_touched_

    enum class Phase : uint8_t { open, lingering, closed };

    // connection_input.cc
    void pump_input();
    bool can_take_input() const;
    void read_once();
    void on_peer_finished();
    void discard_input();
    void process(PaddedBytes bytes);
    bool take_head(PaddedBytes& bytes);
    Exchange& begin_exchange(const RequestTraits& traits);
    void begin_body(Exchange& exchange, const RequestRecord& request);
    bool feed_body(PaddedBytes& bytes);
    void deliver(std::string_view data, bool is_last);
    void deliver_released();
    void reject(HttpError error);
    void process_held();

    // connection.cc
    size_t send_pieces(std::string_view head, std::string_view body);
    size_t note_sent(int64_t result, size_t wanted_bytes);
    void queue_unsent(std::string_view head, size_t sent);
    void drain_queue();
    void mark_broken();
    void append_behind(Exchange& exchange);
    void advance_pipeline();
    void abort_exchanges();
    void abort(Exchange& exchange);
    void unlink_last(Exchange& exchange);
    Exchange* first_released();
    uint64_t remaining_bytes(const Exchange& exchange, size_t held_bytes) const;
    void notify_writable();
    void after_output();
    void finish();
    void free_exchange(Exchange& exchange);
    void update_deadline();
    int64_t deadline_ms() const;
    void on_timeout();

    ServerLoop& loop_;
    Server& server_;
    Connection* next_ = nullptr;  // the server's list
    Connection* previous_ = nullptr;
    int fd_;
    Phase phase_ = Phase::open;
    bool can_read_ = false;       // the socket may have bytes: nothing has said "would block" since
    bool peer_finished_ = false;  // epoll has seen a FIN: read on until it is reached
    bool input_ended_ = false;    // and it has been read
    bool takes_requests_ = true;  // false after a request, or an answer, that ends the connection
    bool held_is_blocked_ = false;  // held_input_ waits for the pipeline or a reader, not for bytes
    bool is_output_blocked_ = false;  // the kernel took less than it was given
    bool is_broken_ = false;  // a write failed; closed when the turn's output is looked after
    bool is_processing_ = false;
    bool is_touched_ = false;
    bool closes_when_drained_ = false;
    bool server_initiated_close_ = false;  // the peer does not expect the end
    bool has_released_ = false;            // an exchange wants what is held of its body

    uint32_t pipelined_ = 0;
    Exchange* first_ = nullptr;  // the pipeline, in the order of the requests
    Exchange* last_ = nullptr;
    Exchange* receiving_ = nullptr;  // whose body is arriving; null while a body is discarded
    uint64_t discarded_bytes_ = 0;
    http::BodyDecoder body_;

    std::string held_input_;  // received, not yet consumed
    net::SendQueue queue_;
    Cork::Chain corked_;

    int64_t armed_ms_ = 0;         // when the timer is set to; 0: not set
    int64_t head_since_ms_;        // when the head under way began; 0: none is
    int64_t activity_ms_;          // the last read, or the last answer, or the start of lingering
    int64_t output_since_ms_ = 0;  // when the output became blocked, or last moved
};

}  // namespace millrace::server
