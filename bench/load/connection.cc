#include "bench/load/connection.h"

#include <algorithm>
#include <bit>

namespace millrace::load {

Connection::Connection(Fd fd, Lane& lane)
    : fd_(std::move(fd)),
      lane_(&lane),
      stream_(lane.expected, lane.learned),
      sent_(std::bit_ceil(lane.depth)),
      mask_(static_cast<uint32_t>(sent_.size()) - 1) {}

void Connection::add_requests(uint32_t count, int64_t now_ns) {
    sent_[end_++ & mask_] = {now_ns, count};
    outstanding_ += count;
    unsent_bytes_ += uint64_t{count} * lane_->request.size();
}

std::string_view Connection::unsent() const {
    const std::string_view block = lane_->block;
    const size_t request_bytes = lane_->request.size();
    // What is unsent always ends with a whole request, so its length gives the place in the block.
    const size_t begin = (request_bytes - unsent_bytes_ % request_bytes) % request_bytes;
    return block.substr(begin, std::min<uint64_t>(unsent_bytes_, block.size() - begin));
}

}  // namespace millrace::load
