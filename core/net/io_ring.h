// The owner of one io_uring(7): its mappings, and what goes in and comes out of it. Inline and
// without the rest of the engine, so that the load generator can have the same one. For one thread
// at a time.
#pragma once

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace millrace::net {

// Memory from mmap(2).
class Mapping {
  public:
    Mapping() = default;
    // `fd` -1: anonymous memory.
    Mapping(int fd, size_t bytes, int64_t offset) : bytes_(bytes) {
        const int kind = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | MAP_POPULATE;
        void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind, fd, offset);
        if (memory != MAP_FAILED) memory_ = static_cast<char*>(memory);
    }
    Mapping(Mapping&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}
    Mapping& operator=(Mapping&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Mapping() {
        if (memory_ != nullptr) ::munmap(memory_, bytes_);
    }

    explicit operator bool() const { return memory_ != nullptr; }
    template <typename T>
    T* at(size_t offset) const {
        return reinterpret_cast<T*>(memory_ + offset);
    }

  private:
    char* memory_ = nullptr;
    size_t bytes_ = 0;
};

// Makes a zeroed entry a send of `bytes`, with MSG_ `flags`; its completion bears `tag`.
inline void prepare_send(io_uring_sqe& entry, int fd, std::string_view bytes, uint32_t flags,
                         uint64_t tag) {
    entry.opcode = IORING_OP_SEND;
    entry.fd = fd;
    entry.addr = reinterpret_cast<uintptr_t>(bytes.data());
    entry.len = static_cast<uint32_t>(std::min<size_t>(bytes.size(), UINT32_MAX));
    entry.msg_flags = flags;
    entry.user_data = tag;
}

class IoRing {
  public:
    // `entries` and `completions` must be powers of two; `flags` are IORING_SETUP_ flags. Whether
    // the kernel agreed is what failure() says.
    IoRing(uint32_t entries, uint32_t completions, uint32_t flags) {
        io_uring_params parameters{};
        parameters.flags = flags | IORING_SETUP_CQSIZE;
        parameters.cq_entries = completions;
        const long fd = ::syscall(__NR_io_uring_setup, entries, &parameters);
        fd_ = static_cast<int>(fd);
        failure_ = fd < 0 ? errno : map(parameters);
    }
    IoRing(const IoRing&) = delete;
    IoRing& operator=(const IoRing&) = delete;
    ~IoRing() {
        if (fd_ >= 0) ::close(fd_);
    }

    // 0, or the errno because of which this ring must not be used.
    int failure() const { return failure_; }

    // IORING_REGISTER_ `operation`; returns 0 or an errno.
    int register_with(unsigned operation, const void* argument, unsigned count) const {
        const long done = ::syscall(__NR_io_uring_register, fd_, operation, argument, count);
        return done < 0 ? errno : 0;
    }

    // A zeroed entry for the next enter(); nullptr if all are in use.
    io_uring_sqe* next() {
        if (tail_ - __atomic_load_n(submission_head_, __ATOMIC_ACQUIRE) > submission_mask_)
            return nullptr;
        io_uring_sqe* const entry = entries_.at<io_uring_sqe>(0) + (tail_++ & submission_mask_);
        std::memset(entry, 0, sizeof *entry);
        return entry;
    }

    // Entries that the kernel has not taken yet.
    uint32_t pending() const { return tail_ - submitted_; }

    // Submits what is pending. With `waits_for` and IORING_ENTER_GETEVENTS in `flags` it waits for
    // so many completions; the argument is that of IORING_ENTER_EXT_ARG. Returns how many entries
    // were taken, or a negated errno; what was not taken stays pending.
    int enter(uint32_t waits_for = 0, uint32_t flags = 0, const void* argument = nullptr,
              size_t argument_bytes = 0) {
        __atomic_store_n(submission_tail_, tail_, __ATOMIC_RELEASE);
        const long taken = ::syscall(__NR_io_uring_enter, fd_, pending(), waits_for, flags,
                                     argument, argument_bytes);
        if (taken < 0) return -errno;
        submitted_ += static_cast<uint32_t>(taken);
        return static_cast<int>(taken);
    }

    // Takes back what is pending: it will never be submitted.
    void withdraw() { tail_ = submitted_; }

    // Calls handle(const io_uring_cqe&) for each completion that is there; returns how many.
    template <typename Handle>
    uint32_t each_completion(Handle handle) {
        const uint32_t begin = *completion_head_;
        const uint32_t end = __atomic_load_n(completion_tail_, __ATOMIC_ACQUIRE);
        for (uint32_t index = begin; index != end; ++index)
            handle(std::as_const(completions_[index & completion_mask_]));
        __atomic_store_n(completion_head_, end, __ATOMIC_RELEASE);
        return end - begin;
    }

  private:
    int map(const io_uring_params& parameters) {
        // FAST_POLL came with Linux 5.7, after everything else that is used here.
        constexpr uint32_t needed = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_FAST_POLL;
        if ((parameters.features & needed) != needed) return ENOSYS;
        const io_sqring_offsets& in = parameters.sq_off;
        const io_cqring_offsets& out = parameters.cq_off;
        rings_ = Mapping(fd_,
                         std::max(in.array + parameters.sq_entries * sizeof(uint32_t),
                                  out.cqes + parameters.cq_entries * sizeof(io_uring_cqe)),
                         IORING_OFF_SQ_RING);
        entries_ = Mapping(fd_, parameters.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES);
        if (!rings_ || !entries_) return ENOMEM;
        submission_head_ = rings_.at<uint32_t>(in.head);
        submission_tail_ = rings_.at<uint32_t>(in.tail);
        submission_mask_ = *rings_.at<uint32_t>(in.ring_mask);
        auto* const order = rings_.at<uint32_t>(in.array);
        for (uint32_t index = 0; index < parameters.sq_entries; ++index)
            order[index] = index;
        completion_head_ = rings_.at<uint32_t>(out.head);
        completion_tail_ = rings_.at<uint32_t>(out.tail);
        completion_mask_ = *rings_.at<uint32_t>(out.ring_mask);
        completions_ = rings_.at<io_uring_cqe>(out.cqes);
        return 0;
    }

    int fd_ = -1;
    int failure_ = 0;
    Mapping rings_;  // submissions and completions (IORING_FEAT_SINGLE_MMAP)
    Mapping entries_;

    uint32_t* submission_head_ = nullptr;
    uint32_t* submission_tail_ = nullptr;
    uint32_t submission_mask_ = 0;
    uint32_t tail_ = 0;       // of what next() has given out
    uint32_t submitted_ = 0;  // of that, what the kernel has taken
    uint32_t* completion_head_ = nullptr;
    uint32_t* completion_tail_ = nullptr;
    uint32_t completion_mask_ = 0;
    io_uring_cqe* completions_ = nullptr;
};

}  // namespace millrace::net
