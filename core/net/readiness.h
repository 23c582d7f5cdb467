// What epoll says of a descriptor, in our words.
#pragma once

namespace millrace::net {

struct Readiness {
    bool readable = false;
    bool writable = false;
    bool peer_finished = false;  // the peer will send no more (FIN)
    bool broken = false;         // reset or another error: nothing can be sent any more
};

// Somebody who waits for a descriptor.
class Watcher {
  public:
    Watcher() = default;
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    // Called once per turn at the most for new readiness, which is reported once only (edges): the
    // watcher keeps it in mind until a system call has said "would block".
    virtual void on_ready(Readiness ready) = 0;

  protected:
    ~Watcher() = default;

  private:
    friend class EventLoop;
    bool is_queued_again_ = false;
};

}  // namespace millrace::net
