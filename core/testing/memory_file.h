// What the memory network's descriptors stand for: things that epoll can watch.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace millrace::testing {

class MemoryEpoll;

// Readiness as the kernel has it: poll() says what is so now, notify() says that something came.
class MemoryFile {
  public:
    MemoryFile() = default;
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    virtual ~MemoryFile();

    // EPOLL bits that hold now, whether watched for or not.
    virtual uint32_t poll() = 0;

    // The last descriptor was closed.
    virtual void on_close() {}

    // Reports `events` as new to every epoll that watches for one of them: the "edge" of an
    // edge-triggered epoll.
    void notify(uint32_t events);

    void leave_epolls();

  private:
    friend class MemoryEpoll;
    std::vector<MemoryEpoll*> epolls_;
};

class MemoryEpoll : public MemoryFile {
  public:
    ~MemoryEpoll() override;

    int add(MemoryFile& file, uint32_t events, epoll_data_t data);
    int remove(const MemoryFile& file);
    int wait(epoll_event* events, int events_max);

    uint32_t poll() override;

  private:
    friend class MemoryFile;

    struct Entry {
        MemoryFile* file;
        uint32_t events;
        epoll_data_t data;
        bool is_queued = false;
    };

    void queue(Entry& entry);
    void on_notify(MemoryFile& file, uint32_t events);
    void forget(const MemoryFile& file);

    std::map<const MemoryFile*, Entry> entries_;
    std::deque<const MemoryFile*> ready_;
};

class MemoryEventfd : public MemoryFile {
  public:
    uint32_t poll() override { return (count_ > 0 ? EPOLLIN : 0u) | EPOLLOUT; }
    void signal() {
        ++count_;
        notify(EPOLLIN);
    }
    void clear() { count_ = 0; }

  private:
    uint64_t count_ = 0;
};

class MemoryTimerfd : public MemoryFile {
  public:
    uint32_t poll() override { return has_fired_ ? EPOLLIN : 0u; }
    void arm(int64_t expiry_ns, int64_t now_ns) {
        has_fired_ = false;
        expiry_ns_ = expiry_ns;
        on_time(now_ns);
    }
    void clear() { has_fired_ = false; }
    void on_time(int64_t now_ns) {
        if (expiry_ns_ == 0 || expiry_ns_ > now_ns) return;
        expiry_ns_ = 0;
        has_fired_ = true;
        notify(EPOLLIN);
    }

  private:
    int64_t expiry_ns_ = 0;  // 0: not armed
    bool has_fired_ = false;
};

}  // namespace millrace::testing
