// A small owner of one io_uring(7): its three mappings, its entries, and a ring of buffers from
// which the kernel takes one whenever bytes arrive. For one thread.
#pragma once

#include "bench/load/socket.h"

#include <linux/io_uring.h>
#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string_view>

namespace millrace::load {

// Memory from mmap(2).
class Mapping {
  public:
    Mapping() = default;
    // `fd` -1: anonymous memory.
    Mapping(int fd, size_t size_bytes, int64_t offset);
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    ~Mapping();

    explicit operator bool() const { return memory_ != nullptr; }
    template <class T>
    T* at(size_t offset_bytes) const {
        return reinterpret_cast<T*>(memory_ + offset_bytes);
    }

  private:
    char* memory_ = nullptr;
    size_t size_bytes_ = 0;
};

class Ring {
  public:
    // Both numbers must be powers of two.
    Ring(uint32_t submissions, uint32_t completions);

    // 0, or the errno that keeps this ring from being used.
    int failure() const { return failure_; }

    // These return 0 or an errno.
    // `count` numbers for files; an entry with IOSQE_FIXED_FILE uses them instead of descriptors.
    int register_files(uint32_t count);
    int set_file(uint32_t number, int fd);
    // `count` (a power of two) buffers of `size_bytes` as group 0.
    int register_buffers(uint32_t count, uint32_t size_bytes);

    // A zeroed entry; it is submitted with the next enter() at the latest.
    io_uring_sqe& next();

    // Submits, and waits for a completion, at most `timeout_ns`.
    void enter(int64_t timeout_ns);

    // Calls handle(const io_uring_cqe&) for each completion.
    template <class Handle>
    void each_completion(Handle handle) {
        uint32_t head = *completion_head_;
        const uint32_t tail = __atomic_load_n(completion_tail_, __ATOMIC_ACQUIRE);
        for (; head != tail; ++head)
            handle(completions_[head & completion_mask_]);
        __atomic_store_n(completion_head_, head, __ATOMIC_RELEASE);
        return_buffers();
    }

    // The bytes of a completion that chose a buffer. Valid until the buffer is released.
    std::string_view bytes_of(const io_uring_cqe& completion) const;
    // The kernel may use the buffer again once all completions have been handled.
    void release_buffer(const io_uring_cqe& completion);

  private:
    int map(const io_uring_params& params);
    long submit(uint32_t wait_for, uint32_t flags, const void* argument, size_t argument_bytes);
    void return_buffers();

    Fd fd_;
    Mapping rings_;  // submissions and completions together (IORING_FEAT_SINGLE_MMAP)
    Mapping entries_;
    int failure_ = 0;

    uint32_t* submission_head_ = nullptr;
    uint32_t* submission_tail_ = nullptr;
    uint32_t submission_mask_ = 0;
    uint32_t tail_ = 0;       // of what next() has given out
    uint32_t submitted_ = 0;  // of that, what the kernel has taken
    uint32_t* completion_head_ = nullptr;
    uint32_t* completion_tail_ = nullptr;
    uint32_t completion_mask_ = 0;
    io_uring_cqe* completions_ = nullptr;

    Mapping buffer_ring_;
    std::unique_ptr<char[]> buffers_;
    uint32_t buffer_count_ = 0;
    uint32_t buffer_bytes_ = 0;
    uint16_t buffer_tail_ = 0;
};

}  // namespace millrace::load
