#include "bench/load/ring.h"

#include <vector>

namespace millrace::load {
namespace {

constexpr int64_t second_ns = 1'000'000'000;

}  // namespace

// Completions are worked on in enter() alone and interrupt nothing else.
Ring::Ring(const Size& size)
    : ring_(size.entries, 2 * size.entries,
            IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN),
      buffer_ring_(-1, size.buffers * sizeof(io_uring_buf), 0),
      buffers_(std::make_unique_for_overwrite<char[]>(size_t{size.buffers} * size.buffer_bytes)),
      buffer_count_(size.buffers),
      buffer_bytes_(size.buffer_bytes),
      failure_(ring_.failure() == 0 ? prepare(size.files) : ring_.failure()) {}

int Ring::prepare(uint32_t files) {
    if (!buffer_ring_) return ENOMEM;
    const std::vector<int> none(files, -1);
    const int refused = ring_.register_with(IORING_REGISTER_FILES, none.data(), files);
    if (refused != 0) return refused;
    for (uint32_t i = 0; i < buffer_count_; ++i) {
        io_uring_cqe owner{};
        owner.flags = i << IORING_CQE_BUFFER_SHIFT;
        release_buffer(owner);
    }
    return_buffers();
    io_uring_buf_reg request{};
    request.ring_addr = reinterpret_cast<uintptr_t>(buffer_ring_.at<char>(0));
    request.ring_entries = buffer_count_;
    return ring_.register_with(IORING_REGISTER_PBUF_RING, &request, 1);
}

void Ring::set_file(uint32_t number, int fd) {
    io_uring_files_update update{};
    update.offset = number;
    update.fds = reinterpret_cast<uintptr_t>(&fd);
    // A number without a file is an error of the first entry that uses it.
    ring_.register_with(IORING_REGISTER_FILES_UPDATE, &update, 1);
}

io_uring_sqe& Ring::next() {
    while (true) {
        if (io_uring_sqe* const entry = ring_.next()) return *entry;
        ring_.enter();
    }
}

void Ring::enter(int64_t timeout_ns) {
    __kernel_timespec timeout{};
    timeout.tv_sec = timeout_ns / second_ns;
    timeout.tv_nsec = timeout_ns % second_ns;
    io_uring_getevents_arg argument{};
    argument.ts = reinterpret_cast<uintptr_t>(&timeout);
    ring_.enter(1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &argument, sizeof argument);
}

std::string_view Ring::bytes_of(const io_uring_cqe& completion) const {
    const size_t buffer = completion.flags >> IORING_CQE_BUFFER_SHIFT;
    return {&buffers_[buffer * buffer_bytes_], static_cast<size_t>(completion.res)};
}

void Ring::release_buffer(const io_uring_cqe& completion) {
    const uint32_t buffer = completion.flags >> IORING_CQE_BUFFER_SHIFT;
    auto& place = buffer_ring_.at<io_uring_buf>(0)[buffer_tail_++ & (buffer_count_ - 1)];
    place.addr = reinterpret_cast<uintptr_t>(&buffers_[size_t{buffer} * buffer_bytes_]);
    place.len = buffer_bytes_;
    place.bid = static_cast<uint16_t>(buffer);
}

// The tail of the buffers stands where the first of them has its reserved field.
void Ring::return_buffers() {
    auto* const tail = buffer_ring_.at<uint16_t>(offsetof(io_uring_buf, resv));
    __atomic_store_n(tail, buffer_tail_, __ATOMIC_RELEASE);
}

}  // namespace millrace::load
