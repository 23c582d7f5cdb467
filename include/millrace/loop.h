// The event loop that apps live on.
//
//     millrace::Loop loop;
//     millrace::App app{loop};
//     ...
//     loop.run();
//
// A loop and all that belongs to it may be used by one thread only, except where said. A process
// may have as many loops as it likes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace millrace {

namespace server {
class ServerLoop;
}

// Figures of a loop since its start; counts unless the name says otherwise.
struct LoopStats {
    uint64_t turns = 0;          // turns of the event loop
    uint64_t batches = 0;        // batches with at least one event
    uint64_t events = 0;         // requests, body pieces, aborts, writable signals
    uint64_t sends = 0;          // writes, each to one connection
    uint64_t grouped_sends = 0;  // those of them that left in a system call with others
    uint64_t receives = 0;       // read calls
    uint64_t connections = 0;    // open now
    uint64_t received_bytes = 0;
    uint64_t sent_bytes = 0;
};

class Loop {
  public:
    struct Options {
        // Memory for received bytes, at least 64 KiB; must outlive the loop. Empty: the loop takes
        // memory of its own. For embedders that want to share it with another runtime.
        std::span<char> receive_arena = {};

        // Lets a turn's output to several connections leave in one system call, by io_uring.
        // Where the kernel or the container does not allow that, it makes no difference. Some time
        // after the loop has been destroyed, a system call of its thread may be interrupted once
        // (EINTR) because of it.
        bool io_uring = true;
    };

    // Throws std::system_error if the kernel refuses a descriptor, std::bad_alloc.
    Loop();
    explicit Loop(const Options& options);
    ~Loop();  // destroy the apps first
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    // Runs until stop(), or until no listener, connection or timer is left. Throws what a function
    // of the program threw; call it again to go on. Does nothing inside a turn.
    void run();

    // Ends run() after the turn under way or the next one; before run(), the next run() after its
    // first turn. From any thread.
    void stop();

    // Calls `function` in the loop's thread soon. From any thread.
    void post(std::function<void()> function);

    // Calls `function` once, not before `milliseconds` have passed and up to 32 ms later.
    void after(uint32_t milliseconds, std::function<void()> function);

    // --- For programs that drive the loop from another one --------------------------------------

    // A descriptor that becomes readable when turn() has something to do. Owned by the loop.
    int poll_descriptor() const;

    // One turn without waiting. Returns true if work is left that needs another turn at once.
    // Throws as run(). Does nothing inside a turn.
    bool turn();

    // Makes the poll descriptor readable. From any thread.
    void wake();

    // Writes out what responses have gathered. A turn does so at its end of its own accord: this is
    // for calls from outside a turn, and for answers that must leave before the turn goes on.
    void flush();

    // Called when a batch of events is complete, before its answers are written out. Everything
    // that a Server in batched delivery has handed out since the last call is valid until this
    // returns.
    void on_batch(std::function<void()> hook);

    // True while a listener or a connection is open or a timer runs.
    bool has_work() const;

    LoopStats stats() const;

    // For the bodies of this API.
    server::ServerLoop& internals() { return *internals_; }

  private:
    class State;
    std::unique_ptr<server::ServerLoop> internals_;
    std::unique_ptr<State> state_;
};

}  // namespace millrace
