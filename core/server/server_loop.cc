#include "core/server/server_loop.h"

#include "core/base/assert.h"
#include "core/net/sys.h"
#include "core/server/connection.h"

#include <algorithm>
#include <utility>

namespace millrace::server {

ServerLoop::ServerLoop(const Options& options)
    : arena_(options.receive_memory), groups_sends_(options.groups_sends) {
    refresh_date();
    events_.on_turn_end([this] { end_turn(); });
}

ServerLoop::~ServerLoop() { events_.disarm(idle_timer_); }

void ServerLoop::make_room(size_t bytes) {
    if (arena_.room() >= bytes && batch_events_ < batch_events_max) return;
    end_batch();
    if (arena_.room() < bytes) arena_.grow(bytes);
    MR_ASSERT(arena_.room() >= bytes);
}

void ServerLoop::end_batch() {
    MR_ASSERT(!is_in_batch_);
    is_in_batch_ = true;
    // What a flush brings (a writable signal, an abort) belongs to the turn. A handler that always
    // finds more to write must not keep the others waiting, though: then it goes on in the next
    // turn.
    constexpr int rounds_max = 4;
    for (int round = 0; round < rounds_max; ++round) {
        if (batch_events_ > 0) {
            ++counters_.batches;
            counters_.events += batch_events_;
            batch_events_ = 0;
            if (batch_hook_) batch_hook_();
        }
        flush();
        if (batch_events_ == 0 && touched_.empty()) break;
    }
    is_in_batch_ = false;
    ++batch_number_;
    arena_.reset();
    records.reset();
    fields.reset();
    parameters.reset();
}

void ServerLoop::end_turn() {
    ++counters_.turns;
    refresh_date();
    end_batch();
    if (batch_events_ > 0 || !touched_.empty()) events_.wake();
}

// Turns may follow each other within microseconds: once a millisecond is enough.
void ServerLoop::refresh_date() {
    if (events_.now_ms() == date_checked_ms_) return;
    date_checked_ms_ = events_.now_ms();
    date_.refresh(net::sys::unix_seconds());
}

void ServerLoop::flush() {
    flushing_.swap(touched_);
    send_group(flushing_);
    for (size_t index = 0; index < flushing_.size(); ++index) {
        Connection* connection = flushing_[index];
        if (!connection) continue;
        flushing_[index] = nullptr;
        connection->is_touched_ = false;
        connection->flush();
    }
    flushing_.clear();
    if (touched_.empty()) cork_.reset();
}

// Sends what it can in one system call, and calls nobody: no handler must run while some of the
// results have not been looked at.
void ServerLoop::send_group(const std::vector<Connection*>& connections) {
    if (!groups_sends_ || connections.size() < group_min) return;
    for (Connection* connection : connections) {
        const std::string_view output = connection ? connection->output_for_group() : "";
        if (output.empty()) continue;
        group_.push_back({connection->descriptor(), output.data(), output.size()});
        group_owners_.push_back(connection);
    }
    if (group_.size() >= group_min && !send_ring_) {
        send_ring_ = net::sys::open_send_ring();
        groups_sends_ = send_ring_ != nullptr;
    }
    if (group_.size() >= group_min && groups_sends_) {
        net::sys::send_each(*send_ring_, group_);
        for (size_t index = 0; index < group_.size(); ++index)
            group_owners_[index]->on_group_sent(group_[index].result, group_[index].bytes);
        counters_.grouped_sends += group_.size();
    }
    group_.clear();
    group_owners_.clear();
}

void ServerLoop::flush_outside_turn() {
    if (events_.is_in_turn()) return flush_gathered();  // the turn looks after the rest
    events_.refresh_clock();
    refresh_date();
    flush();
    if (batch_events_ > 0 || !touched_.empty()) events_.wake();
}

void ServerLoop::keep(std::exception_ptr exception) {
    if (!exception_) exception_ = std::move(exception);
}

void ServerLoop::rethrow() {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
}

void ServerLoop::flush_gathered() {
    for (auto* list : {&flushing_, &touched_})
        for (Connection* connection : *list)
            if (connection) connection->flush_gathered();
    cork_.reset();
}

void ServerLoop::touch(Connection& connection) {
    if (connection.is_touched_) return;
    connection.is_touched_ = true;
    touched_.push_back(&connection);
}

void ServerLoop::forget(Connection& connection) {
    if (!connection.is_touched_) return;
    connection.is_touched_ = false;
    for (auto* list : {&flushing_, &touched_})
        std::replace(list->begin(), list->end(), &connection, static_cast<Connection*>(nullptr));
}

void ServerLoop::note_opened() {
    ++counters_.connections;
    ++opened_since_release_;
}

void ServerLoop::note_closed() {
    --counters_.connections;
    if (counters_.connections == 0 && opened_since_release_ >= opened_before_release)
        events_.arm(idle_timer_, events_.now_ms() + idle_before_release_ms);
}

void ServerLoop::release_memory() {
    if (counters_.connections > 0) return;  // the end of these will be noted, too
    opened_since_release_ = 0;
    net::sys::release_free_memory();
}

char* ServerLoop::scratch(size_t bytes) {
    if (scratch_.size() < bytes) scratch_.resize(bytes);
    return scratch_.data();
}

}  // namespace millrace::server
