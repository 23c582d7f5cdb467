// The ring of the load generator: an io_uring whose reads take a buffer from a common store when
// bytes arrive, and whose sockets have numbers of their own.
#pragma once

#include "core/net/io_ring.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace millrace::load {

class Ring {
  public:
    // All numbers must be powers of two, but `files`.
    struct Size {
        uint32_t entries;
        uint32_t files;
        uint32_t buffers;
        uint32_t buffer_bytes;
    };
    explicit Ring(const Size& size);

    // 0, or the errno that keeps this ring from being used.
    int failure() const { return failure_; }

    // From now on entries with IOSQE_FIXED_FILE mean `fd` by `number`.
    void set_file(uint32_t number, int fd);

    // A zeroed entry; it is submitted with the next enter() at the latest.
    io_uring_sqe& next();

    // Submits, and waits for a completion, at most `timeout_ns`. What the kernel does not take now
    // (no memory, completions to be fetched first) it is offered again the next time.
    void enter(int64_t timeout_ns);

    // Calls handle(const io_uring_cqe&) for each completion.
    template <class Handle>
    void each_completion(Handle handle) {
        ring_.each_completion(handle);
        return_buffers();
    }

    // The bytes of a completion that chose a buffer. Valid until the buffer is released.
    std::string_view bytes_of(const io_uring_cqe& completion) const;
    // The kernel may use the buffer again once all completions have been handled.
    void release_buffer(const io_uring_cqe& completion);

  private:
    int prepare(uint32_t files);
    void return_buffers();

    net::IoRing ring_;
    net::Mapping buffer_ring_;  // of io_uring_buf
    std::unique_ptr<char[]> buffers_;
    uint32_t buffer_count_;
    uint32_t buffer_bytes_;
    uint16_t buffer_tail_ = 0;
    int failure_;
};

}  // namespace millrace::load
