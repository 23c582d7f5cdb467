// Injected faults: every system call that can fail in an interesting way counts a step, and a test
// says which step fails.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace millrace::testing {

// Kinds of system calls. close(), the clocks and the removal from an epoll never fail and are no
// steps.
enum class Call : uint8_t {
    create,  // epoll_create, eventfd, timerfd, stream_socket
    set_up,  // bind, listen, set_option, local_address, peer_address
    watch,   // epoll_add
    wait,    // epoll_wait
    signal,  // eventfd_signal, eventfd_clear, timerfd_arm, timerfd_clear
    accept,
    receive,
    send,    // send, send_gathered
    finish,  // shutdown_send
};
inline constexpr size_t call_kinds = 9;

struct Fault {
    // Only calls of this kind are counted; without it, all calls are.
    std::optional<Call> call = std::nullopt;
    uint64_t step = 1;   // the first call that fails, counted from 1 since fail() was called
    uint64_t count = 1;  // how many calls in a row fail
    int error = 0;       // the errno, positive
};

class Faults {
  public:
    void fail(const Fault& fault);

    // Makes exactly the call number `step` (of all kinds, from 1) from now on fail.
    void fail_at(uint64_t step, int error) { fail({.step = step, .error = error}); }

    // Lets receive() and send() move at most so many bytes a call; 0: no limit. The descriptor is
    // reported ready again, as if the other bytes (or the other room) had come an instant later.
    void short_io_bytes(size_t bytes_max) { short_io_bytes_ = bytes_max; }

    // Calls so far, of all kinds or of one.
    uint64_t steps() const;
    uint64_t steps(Call call) const { return steps_[static_cast<size_t>(call)]; }

    // Calls that were made to fail.
    uint64_t triggered() const { return triggered_; }

    // For the replacement of sys.h: counts one call. Returns 0, or the negated errno to fail with.
    int count(Call call);
    size_t io_bytes(size_t wanted) const;

  private:
    struct Armed {
        Fault fault;
        uint64_t seen = 0;
    };

    std::array<uint64_t, call_kinds> steps_{};
    std::vector<Armed> armed_;
    size_t short_io_bytes_ = 0;
    uint64_t triggered_ = 0;
};

}  // namespace millrace::testing
