#include "bench/load/ring.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace millrace::load {
namespace {

constexpr int64_t second_ns = 1'000'000'000;

int register_with(int ring, unsigned operation, const void* argument, unsigned count) {
    return syscall(__NR_io_uring_register, ring, operation, argument, count) < 0 ? errno : 0;
}

}  // namespace

Mapping::Mapping(int fd, size_t size_bytes, int64_t offset) : size_bytes_(size_bytes) {
    const int kind = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | MAP_POPULATE;
    void* memory = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, kind, fd, offset);
    if (memory != MAP_FAILED) memory_ = static_cast<char*>(memory);
}

Mapping::Mapping(Mapping&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), size_bytes_(other.size_bytes_) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
}

Mapping::~Mapping() {
    if (memory_ != nullptr) munmap(memory_, size_bytes_);
}

Ring::Ring(uint32_t submissions, uint32_t completions) {
    io_uring_params params{};
    // Completions are worked on in enter() alone and interrupt nothing else.
    params.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
    params.cq_entries = completions;
    fd_ = Fd(static_cast<int>(syscall(__NR_io_uring_setup, submissions, &params)));
    failure_ = fd_.open() ? map(params) : errno;
}

int Ring::map(const io_uring_params& params) {
    const auto& [submission, completion] = std::pair(params.sq_off, params.cq_off);
    const size_t size = std::max(submission.array + params.sq_entries * sizeof(uint32_t),
                                 completion.cqes + params.cq_entries * sizeof(io_uring_cqe));
    rings_ = Mapping(fd_.get(), size, IORING_OFF_SQ_RING);
    entries_ = Mapping(fd_.get(), params.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES);
    if (!rings_ || !entries_) return ENOMEM;
    submission_head_ = rings_.at<uint32_t>(submission.head);
    submission_tail_ = rings_.at<uint32_t>(submission.tail);
    submission_mask_ = *rings_.at<uint32_t>(submission.ring_mask);
    auto* const order = rings_.at<uint32_t>(submission.array);
    for (uint32_t i = 0; i < params.sq_entries; ++i)
        order[i] = i;
    completion_head_ = rings_.at<uint32_t>(completion.head);
    completion_tail_ = rings_.at<uint32_t>(completion.tail);
    completion_mask_ = *rings_.at<uint32_t>(completion.ring_mask);
    completions_ = rings_.at<io_uring_cqe>(completion.cqes);
    return 0;
}

int Ring::register_files(uint32_t count) {
    const std::vector<int> none(count, -1);
    return register_with(fd_.get(), IORING_REGISTER_FILES, none.data(), count);
}

int Ring::set_file(uint32_t number, int fd) {
    io_uring_files_update update{};
    update.offset = number;
    update.fds = reinterpret_cast<uintptr_t>(&fd);
    return register_with(fd_.get(), IORING_REGISTER_FILES_UPDATE, &update, 1);
}

int Ring::register_buffers(uint32_t count, uint32_t size_bytes) {
    buffer_ring_ = Mapping(-1, count * sizeof(io_uring_buf), 0);
    if (!buffer_ring_) return ENOMEM;
    buffers_ = std::make_unique_for_overwrite<char[]>(size_t{count} * size_bytes);
    buffer_count_ = count;
    buffer_bytes_ = size_bytes;
    io_uring_buf_reg request{};
    request.ring_addr = reinterpret_cast<uintptr_t>(buffer_ring_.at<char>(0));
    request.ring_entries = count;
    const int failure = register_with(fd_.get(), IORING_REGISTER_PBUF_RING, &request, 1);
    for (uint32_t i = 0; failure == 0 && i < count; ++i) {
        io_uring_cqe every{};
        every.flags = i << IORING_CQE_BUFFER_SHIFT;
        release_buffer(every);
    }
    return_buffers();
    return failure;
}

io_uring_sqe& Ring::next() {
    while (tail_ - __atomic_load_n(submission_head_, __ATOMIC_ACQUIRE) > submission_mask_)
        submit(0, 0, nullptr, 0);
    auto& entry = entries_.at<io_uring_sqe>(0)[tail_++ & submission_mask_];
    std::memset(&entry, 0, sizeof entry);
    return entry;
}

void Ring::enter(int64_t timeout_ns) {
    __kernel_timespec timeout{};
    timeout.tv_sec = timeout_ns / second_ns;
    timeout.tv_nsec = timeout_ns % second_ns;
    io_uring_getevents_arg argument{};
    argument.ts = reinterpret_cast<uintptr_t>(&timeout);
    submit(1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &argument, sizeof argument);
}

// What the kernel does not take now (no memory, completions to be fetched first) it is offered
// again the next time; so no failure needs an answer here.
long Ring::submit(uint32_t wait_for, uint32_t flags, const void* argument, size_t argument_bytes) {
    __atomic_store_n(submission_tail_, tail_, __ATOMIC_RELEASE);
    const long taken = syscall(__NR_io_uring_enter, fd_.get(), tail_ - submitted_, wait_for, flags,
                               argument, argument_bytes);
    if (taken > 0) submitted_ += static_cast<uint32_t>(taken);
    return taken;
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
    if (!buffer_ring_) return;
    auto* const tail = buffer_ring_.at<uint16_t>(offsetof(io_uring_buf, resv));
    __atomic_store_n(tail, buffer_tail_, __ATOMIC_RELEASE);
}

}  // namespace millrace::load
