// One keep-alive connection of a lane: what is in flight on it, since when, and what still has to
// be written.
#pragma once

#include "bench/load/lane.h"
#include "bench/load/response_stream.h"
#include "bench/load/socket.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace millrace::load {

class Connection {
  public:
    // `lane` must outlive the connection.
    Connection(Fd fd, Lane& lane);

    int fd() const { return fd_.get(); }
    bool open() const { return fd_.open(); }
    void close() { fd_.reset(); }
    Lane& lane() const { return *lane_; }
    // The number that the transport gave to this connection.
    uint32_t slot() const { return slot_; }
    void set_slot(uint32_t slot) { slot_ = slot; }

    uint32_t outstanding() const { return outstanding_; }
    bool blocked() const { return unsent_bytes_ != 0; }
    // When the oldest unanswered request was written.
    int64_t oldest_sent_ns() const { return sent_[first_ & mask_].at_ns; }

    // Puts `count` more requests in flight; outstanding() + count must not exceed the lane's depth.
    void add_requests(uint32_t count, int64_t now_ns);
    // The next bytes to write: as many as lie together in the lane's block. Empty unless blocked().
    std::string_view unsent() const;
    void on_sent(size_t size) { unsent_bytes_ -= size; }

    ResponseStream::Progress receive(std::string_view bytes) {
        return stream_.feed(bytes, outstanding_);
    }

    // Takes `count` responses off the queue and calls record(latency in ns, number of responses).
    template <class Record>
    void complete(uint32_t count, int64_t now_ns, Record record) {
        outstanding_ -= count;
        while (count != 0) {
            SentBatch& oldest = sent_[first_ & mask_];
            const uint32_t taken = count < oldest.count ? count : oldest.count;
            record(now_ns - oldest.at_ns, taken);
            oldest.count -= taken;
            count -= taken;
            if (oldest.count == 0) ++first_;
        }
    }

  private:
    // Requests that left in one write, and so share their time.
    struct SentBatch {
        int64_t at_ns = 0;
        uint32_t count = 0;
    };

    Fd fd_;
    uint32_t slot_ = 0;
    Lane* lane_;
    ResponseStream stream_;
    uint32_t outstanding_ = 0;
    uint64_t unsent_bytes_ = 0;    // the end of the last whole request is the end of these bytes
    std::vector<SentBatch> sent_;  // a ring; every batch holds a request, so `depth` places suffice
    uint32_t mask_;
    uint32_t first_ = 0;
    uint32_t end_ = 0;
};

}  // namespace millrace::load
