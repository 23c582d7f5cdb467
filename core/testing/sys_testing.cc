// Replaces sys_linux.cc in tests: the same calls on the memory network or on the real kernel, as
// the thread's TestNetwork says, with faults injected on the way. Without a TestNetwork these are
// the real system calls.
#include "core/net/sys.h"
#include "core/testing/environment.h"

#include <algorithm>
#include <variant>
#include <vector>

namespace millrace::net::sys {

namespace {

using testing::Call;
using testing::environment;

template <typename Operation>
auto call(Operation operation) {
    if (environment == nullptr) {
        LinuxCalls calls;
        return operation(calls);
    }
    return std::visit(operation, environment->calls);
}

int fault_of(Call kind) { return environment == nullptr ? 0 : environment->faults->count(kind); }

template <typename Operation>
int counted(Call kind, Operation operation) {
    if (const int error = fault_of(kind); error < 0) return error;
    return call(operation);
}

// For calls whose success means that something moved.
template <typename Result>
Result noted(Result result) {
    if (environment != nullptr && result >= 0) ++environment->activity;
    return result;
}

// For calls that give out a descriptor.
int opened(int fd) {
    if (environment != nullptr && fd >= 0) environment->descriptors.insert(fd);
    return fd;
}

void rearm(int fd) {
    std::visit([&](auto& calls) { calls.rearm(fd); }, environment->calls);
}

// Moves bytes, fewer than asked for if the test wants it so. An injected EAGAIN or short count is
// followed by new readiness, because the kernel would report some, too: an edge-triggered reader
// may take both as "nothing left until the next event".
template <typename Operation>
int64_t moved(Call kind, int fd, size_t bytes, Operation operation) {
    if (const int error = fault_of(kind); error < 0) {
        if (error == -EAGAIN) rearm(fd);
        return error;
    }
    const size_t granted = environment == nullptr ? bytes : environment->faults->io_bytes(bytes);
    const int64_t result = noted(operation(granted));
    if (granted < bytes && result == static_cast<int64_t>(granted)) rearm(fd);
    return result;
}

size_t bytes_of(const iovec* pieces, size_t piece_count) {
    size_t bytes = 0;
    for (size_t index = 0; index < piece_count; ++index)
        bytes += pieces[index].iov_len;
    return bytes;
}

// The front of `pieces`, `bytes` long.
std::vector<iovec> front_of(const iovec* pieces, size_t piece_count, size_t bytes) {
    std::vector<iovec> front;
    for (size_t index = 0; index < piece_count && bytes > 0; ++index) {
        const size_t here = std::min(pieces[index].iov_len, bytes);
        front.push_back({pieces[index].iov_base, here});
        bytes -= here;
    }
    return front;
}

}  // namespace

// --- Time ----------------------------------------------------------------------------------------

int64_t monotonic_ns() {
    return call([](auto& calls) { return calls.monotonic_ns(); });
}

int64_t unix_seconds() {
    return call([](auto& calls) { return calls.unix_seconds(); });
}

// --- Memory --------------------------------------------------------------------------------------

void release_free_memory() {
    if (environment == nullptr)
        LinuxCalls::release_free_memory();
    else
        ++environment->memory_releases;
}

// --- Readiness -----------------------------------------------------------------------------------

int epoll_create() {
    return opened(counted(Call::create, [](auto& calls) { return calls.epoll_create(); }));
}

int epoll_add(int epoll, int fd, uint32_t events, void* data) {
    return counted(Call::watch,
                   [&](auto& calls) { return calls.epoll_add(epoll, fd, events, data); });
}

int epoll_remove(int epoll, int fd) {
    return call([&](auto& calls) { return calls.epoll_remove(epoll, fd); });
}

int epoll_wait(int epoll, epoll_event* events, int events_max, int timeout_ms) {
    const int count = counted(Call::wait, [&](auto& calls) {
        return calls.epoll_wait(epoll, events, events_max, timeout_ms);
    });
    if (count > 0) noted(count);
    return count;
}

int eventfd() {
    return opened(counted(Call::create, [](auto& calls) { return calls.eventfd(); }));
}

int eventfd_signal(int fd) {
    return counted(Call::signal, [&](auto& calls) { return calls.eventfd_signal(fd); });
}

int eventfd_clear(int fd) {
    return counted(Call::signal, [&](auto& calls) { return calls.eventfd_clear(fd); });
}

int timerfd() {
    return opened(counted(Call::create, [](auto& calls) { return calls.timerfd(); }));
}

int timerfd_arm(int fd, int64_t expiry_ns) {
    return counted(Call::signal, [&](auto& calls) { return calls.timerfd_arm(fd, expiry_ns); });
}

int timerfd_clear(int fd) {
    return counted(Call::signal, [&](auto& calls) { return calls.timerfd_clear(fd); });
}

// --- Stream sockets ------------------------------------------------------------------------------

int stream_socket(int family) {
    return opened(counted(Call::create, [&](auto& calls) { return calls.stream_socket(family); }));
}

int bind(int fd, const sockaddr* address, uint32_t address_bytes) {
    return counted(Call::set_up,
                   [&](auto& calls) { return calls.bind(fd, address, address_bytes); });
}

int listen(int fd, int backlog) {
    return counted(Call::set_up, [&](auto& calls) { return calls.listen(fd, backlog); });
}

int accept(int fd) {
    if (const int error = fault_of(Call::accept); error < 0) {
        if (error == -EAGAIN) rearm(fd);
        return error;
    }
    return noted(opened(call([&](auto& calls) { return calls.accept(fd); })));
}

int set_option(int fd, int level, int option, int value) {
    return counted(Call::set_up,
                   [&](auto& calls) { return calls.set_option(fd, level, option, value); });
}

int local_address(int fd, sockaddr* address, uint32_t* address_bytes) {
    return counted(Call::set_up,
                   [&](auto& calls) { return calls.local_address(fd, address, address_bytes); });
}

int peer_address(int fd, sockaddr* address, uint32_t* address_bytes) {
    return counted(Call::set_up,
                   [&](auto& calls) { return calls.peer_address(fd, address, address_bytes); });
}

int64_t receive(int fd, char* into, size_t bytes_max) {
    return moved(Call::receive, fd, bytes_max, [&](size_t granted) {
        return call([&](auto& calls) { return calls.receive(fd, into, granted); });
    });
}

int64_t send(int fd, const char* from, size_t bytes) {
    return moved(Call::send, fd, bytes, [&](size_t granted) {
        return call([&](auto& calls) { return calls.send(fd, from, granted); });
    });
}

int64_t send_gathered(int fd, const iovec* pieces, size_t piece_count) {
    const size_t bytes = bytes_of(pieces, piece_count);
    return moved(Call::send, fd, bytes, [&](size_t granted) {
        if (granted == bytes)
            return call([&](auto& calls) { return calls.send_gathered(fd, pieces, piece_count); });
        const auto front = front_of(pieces, piece_count, granted);
        return call(
            [&](auto& calls) { return calls.send_gathered(fd, front.data(), front.size()); });
    });
}

int shutdown_send(int fd) {
    return noted(counted(Call::finish, [&](auto& calls) { return calls.shutdown_send(fd); }));
}

void CloseSendRing::operator()(SendRing* ring) const { delete ring; }

SendRingOwner open_send_ring() {
    if (fault_of(Call::create) < 0) return nullptr;
    return call([](auto& calls) { return calls.open_send_ring(); });
}

void send_each(SendRing& ring, std::span<Send> sends) {
    if (environment == nullptr) return LinuxCalls::send_each(ring, sends);
    std::vector<Send> granted;
    std::vector<Send*> wanted;
    for (Send& one : sends) {
        if (const int error = fault_of(Call::send); error < 0) {
            one.result = error;
            if (error == -EAGAIN) rearm(one.fd);
            continue;
        }
        granted.push_back({one.fd, one.from, environment->faults->io_bytes(one.bytes)});
        wanted.push_back(&one);
    }
    call([&](auto& calls) { calls.send_each(ring, std::span(granted)); });
    for (size_t index = 0; index < granted.size(); ++index) {
        const Send& done = granted[index];
        Send& one = *wanted[index];
        one.result = noted(done.result);
        const bool is_cut = done.bytes < one.bytes;
        if (is_cut && one.result == static_cast<int64_t>(done.bytes)) rearm(one.fd);
    }
}

int close(int fd) {
    if (environment != nullptr) environment->descriptors.erase(fd);
    return noted(call([&](auto& calls) { return calls.close(fd); }));
}

}  // namespace millrace::net::sys
