// The output of one turn: answers of all connections, gathered in one piece of memory, so that each
// connection is written to once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace millrace::server {

class Connection;

class Cork {
  public:
    static constexpr size_t capacity_bytes = 256 * 1024;
    static constexpr uint32_t no_segment = UINT32_MAX;

    // What one connection wrote in one go. A connection's segments form a list.
    struct Segment {
        Connection* owner;
        uint32_t begin;
        uint32_t end;
        uint32_t next;
    };

    // The list of one connection.
    struct Chain {
        uint32_t first = no_segment;
        uint32_t last = no_segment;
        bool is_empty() const { return first == no_segment; }
    };

    Cork();

    bool has_room(size_t bytes) const { return capacity_bytes - used_ >= bytes; }

    // Room for `bytes` at the end of the connection's chain. has_room() must hold.
    char* begin(Connection& owner, Chain& chain, size_t bytes);

    // Takes what was written, up to `end`.
    void commit(const char* end) {
        used_ = static_cast<size_t>(end - memory_.get());
        segments_.back().end = static_cast<uint32_t>(used_);
    }

    // Whether `place` came from begin().
    bool owns(const char* place) const {
        return place >= memory_.get() && place < memory_.get() + capacity_bytes;
    }

    const Segment& segment(uint32_t index) const { return segments_[index]; }
    std::string_view text(const Segment& segment) const {
        return {memory_.get() + segment.begin, segment.end - segment.begin};
    }

    // Makes room again. All chains must have been written out.
    void reset() {
        used_ = 0;
        segments_.clear();
    }

  private:
    std::unique_ptr<char[]> memory_;
    size_t used_ = 0;
    std::vector<Segment> segments_;
};

}  // namespace millrace::server
