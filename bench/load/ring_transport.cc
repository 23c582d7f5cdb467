#include "bench/load/ring_transport.h"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>

namespace millrace::load {
namespace {

constexpr uint32_t entries_max = 16 * 1024;  // IORING_MAX_ENTRIES is twice as many
constexpr uint32_t buffers_max = 4096;
constexpr uint32_t buffer_bytes = 16 * 1024;

// What a completion belongs to: the slot, and in the lowest bit whether it was a write.
enum class Act : uint64_t { receive = 0, send = 1 };
constexpr uint64_t tag(uint32_t slot, Act act) {
    return uint64_t{slot} * 2 + static_cast<uint64_t>(act);
}

// A read and a write of each connection.
uint32_t entries_for(uint32_t connections) {
    return std::clamp(std::bit_ceil(connections * 2), 64u, entries_max);
}

uint32_t buffers_for(uint32_t connections) {
    return std::clamp(std::bit_ceil(connections), 64u, buffers_max);
}

}  // namespace

RingTransport::RingTransport(uint32_t connections)
    : ring_({.entries = entries_for(connections),
             .files = connections,
             .buffers = buffers_for(connections),
             .buffer_bytes = buffer_bytes}) {}

void RingTransport::add(Connection& connection) {
    const auto slot = static_cast<uint32_t>(slots_.size());
    connection.set_slot(slot);
    slots_.push_back({.connection = &connection});
    ring_.set_file(slot, connection.fd());
    receive(slot);
}

ErrorKind RingTransport::flush(Connection& connection) {
    if (connection.blocked() && !slots_[connection.slot()].sending) send(connection.slot());
    return ErrorKind::none;
}

// The ring holds the socket while it reads from it, so closing would not end the connection.
void RingTransport::drop(Connection& connection) { shutdown(connection.fd(), SHUT_RDWR); }

void RingTransport::wait(int64_t timeout_ns, Sink& sink) {
    ring_.enter(timeout_ns);
    sink.on_wake();
    ring_.each_completion([&](const io_uring_cqe& completion) {
        const auto slot = static_cast<uint32_t>(completion.user_data / 2);
        const bool is_send = (completion.user_data & static_cast<uint64_t>(Act::send)) != 0;
        return is_send ? on_sent(slot, completion, sink) : on_received(slot, completion, sink);
    });
    sink.on_group_end();
}

// Lasts until its completion comes without IORING_CQE_F_MORE.
void RingTransport::receive(uint32_t slot) {
    io_uring_sqe& entry = ring_.next();
    entry.opcode = IORING_OP_RECV;
    entry.ioprio = IORING_RECV_MULTISHOT;
    entry.flags = IOSQE_BUFFER_SELECT | IOSQE_FIXED_FILE;
    entry.fd = static_cast<int>(slot);
    entry.user_data = tag(slot, Act::receive);
}

void RingTransport::send(uint32_t slot) {
    io_uring_sqe& entry = ring_.next();
    net::prepare_send(entry, static_cast<int>(slot), slots_[slot].connection->unsent(),
                      MSG_NOSIGNAL, tag(slot, Act::send));
    entry.flags = IOSQE_FIXED_FILE;
    slots_[slot].sending = true;
}

void RingTransport::on_received(uint32_t slot, const io_uring_cqe& completion, Sink& sink) {
    Connection& connection = *slots_[slot].connection;
    const bool has_buffer = (completion.flags & IORING_CQE_F_BUFFER) != 0;
    if (connection.open()) {
        if (completion.res > 0) {
            sink.on_bytes(connection, ring_.bytes_of(completion));
        } else if (completion.res != -ENOBUFS) {
            sink.on_failure(connection,
                            completion.res == 0 ? ErrorKind::disconnect : ErrorKind::read);
        }
    }
    if (has_buffer) ring_.release_buffer(completion);
    if (connection.open() && (completion.flags & IORING_CQE_F_MORE) == 0) receive(slot);
}

void RingTransport::on_sent(uint32_t slot, const io_uring_cqe& completion, Sink& sink) {
    Connection& connection = *slots_[slot].connection;
    slots_[slot].sending = false;
    if (!connection.open()) return;
    if (completion.res < 0) return sink.on_failure(connection, ErrorKind::write);
    connection.on_sent(static_cast<size_t>(completion.res));
    flush(connection);
}

}  // namespace millrace::load
