#include "core/testing/memory_file.h"

#include <algorithm>
#include <cerrno>

namespace millrace::testing {

MemoryFile::~MemoryFile() { leave_epolls(); }

void MemoryFile::notify(uint32_t events) {
    for (MemoryEpoll* epoll : epolls_)
        epoll->on_notify(*this, events);
}

void MemoryFile::leave_epolls() {
    for (MemoryEpoll* epoll : epolls_)
        epoll->forget(*this);
    epolls_.clear();
}

MemoryEpoll::~MemoryEpoll() {
    for (auto& [unused, entry] : entries_)
        std::erase(entry.file->epolls_, this);
}

int MemoryEpoll::add(MemoryFile& file, uint32_t events, epoll_data_t data) {
    if (&file == this) return -EINVAL;
    const auto [place, is_new] =
        entries_.try_emplace(&file, Entry{&file, events | EPOLLERR | EPOLLHUP, data});
    if (!is_new) return -EEXIST;
    file.epolls_.push_back(this);
    if ((file.poll() & place->second.events) != 0) queue(place->second);
    return 0;
}

int MemoryEpoll::remove(const MemoryFile& file) {
    const auto found = entries_.find(&file);
    if (found == entries_.end()) return -ENOENT;
    std::erase(found->second.file->epolls_, this);
    forget(file);
    return 0;
}

int MemoryEpoll::wait(epoll_event* events, int events_max) {
    int count = 0;
    // Level-triggered entries go to the end of the queue again, so only one round is looked at.
    for (size_t left = ready_.size(); left > 0 && count < events_max; --left) {
        Entry& entry = entries_.at(ready_.front());
        ready_.pop_front();
        entry.is_queued = false;
        const uint32_t ready = entry.file->poll() & entry.events;
        if (ready == 0) continue;
        events[count].events = ready;
        events[count].data = entry.data;
        ++count;
        if ((entry.events & EPOLLET) == 0) queue(entry);
    }
    return count;
}

uint32_t MemoryEpoll::poll() {
    const bool is_ready = std::any_of(ready_.begin(), ready_.end(), [&](const MemoryFile* file) {
        Entry& entry = entries_.at(file);
        return (entry.file->poll() & entry.events) != 0;
    });
    return is_ready ? EPOLLIN : 0u;
}

void MemoryEpoll::queue(Entry& entry) {
    if (entry.is_queued) return;
    entry.is_queued = true;
    ready_.push_back(entry.file);
    notify(EPOLLIN);
}

void MemoryEpoll::on_notify(MemoryFile& file, uint32_t events) {
    Entry& entry = entries_.at(&file);
    if ((entry.events & events) != 0) queue(entry);
}

void MemoryEpoll::forget(const MemoryFile& file) {
    entries_.erase(&file);
    std::erase(ready_, &file);
}

}  // namespace millrace::testing
