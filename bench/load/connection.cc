#include "bench/load/connection.h"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>

namespace millrace::load {

Connection::Connection(Fd fd, Lane& lane)
    : fd_(std::move(fd)),
      lane_(&lane),
      stream_(lane.expected, lane.learned),
      sent_(std::bit_ceil(lane.depth)),
      mask_(static_cast<uint32_t>(sent_.size()) - 1) {}

ErrorKind Connection::send(uint32_t count, int64_t now_ns) {
    const bool was_blocked = blocked();
    sent_[end_++ & mask_] = {now_ns, count};
    outstanding_ += count;
    unsent_bytes_ += uint64_t{count} * lane_->request.size();
    return was_blocked ? ErrorKind::none : flush();
}

ErrorKind Connection::flush() {
    const std::string& block = lane_->block;
    const size_t request_bytes = lane_->request.size();
    while (unsent_bytes_ != 0) {
        // What is unsent always ends with a whole request, so its length gives the place in the
        // block.
        const size_t begin = (request_bytes - unsent_bytes_ % request_bytes) % request_bytes;
        const size_t size = std::min<uint64_t>(unsent_bytes_, block.size() - begin);
        const ssize_t sent = ::send(fd_.get(), block.data() + begin, size, MSG_NOSIGNAL);
        if (sent < 0) return errno == EAGAIN ? ErrorKind::none : ErrorKind::write;
        unsent_bytes_ -= static_cast<uint64_t>(sent);
    }
    return ErrorKind::none;
}

Connection::Received Connection::receive(std::span<char> buffer, Until until) {
    Received received;
    while (true) {
        const ssize_t got = recv(fd_.get(), buffer.data(), buffer.size(), 0);
        if (got < 0) {
            if (errno != EAGAIN) received.error = ErrorKind::read;
            return received;
        }
        if (got == 0) {
            received.error = ErrorKind::disconnect;
            return received;
        }
        const auto size = static_cast<size_t>(got);
        const auto progress =
            stream_.feed({buffer.data(), size}, outstanding_ - received.completed);
        received.bytes += size;
        received.completed += progress.completed;
        received.parsed += progress.parsed;
        received.error = progress.error;
        // A short read has emptied the socket: epoll will tell of everything that comes later.
        const bool emptied = size < buffer.size() && until == Until::short_read;
        if (emptied || received.error != ErrorKind::none) return received;
    }
}

}  // namespace millrace::load
