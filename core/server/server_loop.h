// What all servers of one loop share: the memory of the turn, and the turn itself.
#pragma once

#include "core/base/bump_store.h"
#include "core/net/event_loop.h"
#include "core/net/sys.h"
#include "core/routing/route_tree.h"
#include "core/server/cork.h"
#include "core/server/date_line.h"
#include "core/server/exchange.h"
#include "core/server/receive_arena.h"
#include "core/server/request_record.h"

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::server {

class Connection;

struct LoopCounters {
    uint64_t turns = 0;
    uint64_t batches = 0;
    uint64_t events = 0;
    uint64_t sends = 0;
    uint64_t grouped_sends = 0;
    uint64_t receives = 0;
    uint64_t connections = 0;
    uint64_t listeners = 0;
    uint64_t received_bytes = 0;
    uint64_t sent_bytes = 0;
};

class ServerLoop {
  public:
    struct Options {
        std::span<char> receive_memory;
        bool groups_sends = true;
    };
    explicit ServerLoop(const Options& options);
    ~ServerLoop();
    ServerLoop(const ServerLoop&) = delete;
    ServerLoop& operator=(const ServerLoop&) = delete;

    net::EventLoop& events() { return events_; }
    ReceiveArena& arena() { return arena_; }
    Cork& cork() { return cork_; }
    ExchangePool& exchanges() { return exchanges_; }
    const DateLine& date() const { return date_; }
    LoopCounters& counters() { return counters_; }
    routing::Match& scratch_match() { return scratch_match_; }

    BumpStore<RequestRecord> records{64};
    BumpStore<Field> fields{1024};
    BumpStore<std::string_view> parameters{256};

    // Called when a batch is complete.
    void on_batch(std::function<void()> hook) { batch_hook_ = std::move(hook); }

    // Notes that the batch has an event more.
    void count_event() { ++batch_events_; }

    // Counted from 1.
    uint64_t batch_number() const { return batch_number_; }

    // A batch is ended before more is read when it has that many events: what a larger one saves in
    // crossings it loses in caches, and the first answers would wait longer.
    static constexpr uint64_t batch_events_max = 128;

    // Makes sure that `bytes` fit into the arena, by ending the batch if they do not, and then by
    // more memory if the arena is the loop's own. Afterwards connections may be closed.
    void make_room(size_t bytes);

    // Ends the batch: calls the hook, writes out the answers, forgets all views.
    void end_batch();

    // Writes out what has been gathered, and looks after the connections that were touched.
    void flush();
    // Writes out only, and calls nobody.
    void flush_gathered();

    // The same for calls that come from outside a turn; within one, writes out what is gathered.
    void flush_outside_turn();

    // Keeps the first exception of a handler until the turn is over; then it goes on to whoever
    // runs the loop.
    void keep(std::exception_ptr exception);
    void rethrow();

    // The connection has something to write out or to look after when the turn ends.
    void touch(Connection& connection);
    void forget(Connection& connection);

    // A connection more, a connection less. Some time after the last of many has gone, the memory
    // that they took goes back to the system.
    void note_opened();
    void note_closed();
    static constexpr int64_t idle_before_release_ms = 1000;
    static constexpr uint64_t opened_before_release = 64;

    // The output of so many connections leaves in one system call, where the kernel has io_uring.
    static constexpr size_t group_min = 2;

    // Memory for output that cannot go through the cork; valid until the next call.
    char* scratch(size_t bytes);

  private:
    class IdleTimer final : public net::Timer {
      public:
        explicit IdleTimer(ServerLoop& loop) : loop_(loop) {}
        void on_timer() override { loop_.release_memory(); }

      private:
        ServerLoop& loop_;
    };

    void release_memory();
    void end_turn();
    void send_group(const std::vector<Connection*>& connections);
    void refresh_date();

    net::EventLoop events_;
    ReceiveArena arena_;
    Cork cork_;
    ExchangePool exchanges_;
    DateLine date_;
    int64_t date_checked_ms_ = -1;
    LoopCounters counters_;
    routing::Match scratch_match_;
    std::function<void()> batch_hook_;
    uint64_t batch_events_ = 0;
    uint64_t batch_number_ = 1;
    bool is_in_batch_ = false;
    std::vector<Connection*> touched_;
    std::vector<Connection*> flushing_;
    bool groups_sends_;
    net::sys::SendRingOwner send_ring_;  // from the first group on
    std::vector<net::sys::Send> group_;
    std::vector<Connection*> group_owners_;
    std::string scratch_;
    std::exception_ptr exception_;
    uint64_t opened_since_release_ = 0;
    IdleTimer idle_timer_{*this};
};

}  // namespace millrace::server
