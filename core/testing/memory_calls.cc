#include "core/testing/memory_calls.h"

#include "core/net/sys_linux_calls.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace millrace::testing {

namespace {

constexpr int64_t ns_per_second = 1'000'000'000;
// The clocks start at values that no code can mistake for zero: an hour after the start of the
// machine, and the date that RFC 9110 section 5.6.7 uses as its example.
constexpr int64_t start_ns = 3600 * ns_per_second;
constexpr int64_t start_unix_seconds = 784'111'777;

constexpr uint16_t ephemeral_port_first = 32'768;
constexpr uint16_t client_port_first = 50'000;

// A loop that waits without limit on a network where nothing can come would spin for ever.
constexpr uint64_t idle_waits_max = 1'000'000;

}  // namespace

MemoryCalls::MemoryCalls() : now_ns_(start_ns), client_port_(client_port_first) {}

MemoryCalls::~MemoryCalls() {
    for (size_t index = 0; index < files_.size(); ++index)
        if (files_[index] != nullptr) close(first_fd + static_cast<int>(index));
}

// --- Descriptors ---------------------------------------------------------------------------------

int MemoryCalls::open(std::shared_ptr<MemoryFile> file) {
    if (open_count() >= descriptors_max_) return -EMFILE;
    const auto place = std::find(files_.begin(), files_.end(), nullptr);
    const auto index = static_cast<size_t>(place - files_.begin());
    if (place == files_.end())
        files_.push_back(std::move(file));
    else
        *place = std::move(file);
    return first_fd + static_cast<int>(index);
}

size_t MemoryCalls::open_count() const {
    return files_.size() - static_cast<size_t>(std::count(files_.begin(), files_.end(), nullptr));
}

std::shared_ptr<MemoryFile> MemoryCalls::file_of(int fd) const {
    if (fd < first_fd || static_cast<size_t>(fd - first_fd) >= files_.size()) return nullptr;
    return files_[static_cast<size_t>(fd - first_fd)];
}

template <typename File>
std::shared_ptr<File> MemoryCalls::file_as(int fd) const {
    return std::dynamic_pointer_cast<File>(file_of(fd));
}

int MemoryCalls::close(int fd) {
    const auto file = file_of(fd);
    if (file == nullptr) return -EBADF;
    files_[static_cast<size_t>(fd - first_fd)] = nullptr;
    file->leave_epolls();
    file->on_close();
    return 0;
}

void MemoryCalls::rearm(int fd) {
    if (const auto file = file_of(fd)) file->notify(file->poll());
}

// --- Time and readiness --------------------------------------------------------------------------

int64_t MemoryCalls::unix_seconds() const {
    return start_unix_seconds + (now_ns_ - start_ns) / ns_per_second;
}

void MemoryCalls::advance_ns(int64_t ns) {
    now_ns_ += ns;
    for (const auto& file : files_)
        if (auto* timer = dynamic_cast<MemoryTimerfd*>(file.get())) timer->on_time(now_ns_);
}

int MemoryCalls::epoll_add(int epoll, int fd, uint32_t events, void* data) {
    const auto file = file_of(fd);
    if (file == nullptr || file_of(epoll) == nullptr) return -EBADF;
    const auto set = file_as<MemoryEpoll>(epoll);
    epoll_data_t event_data;
    event_data.ptr = data;
    return set == nullptr ? -EINVAL : set->add(*file, events, event_data);
}

int MemoryCalls::epoll_remove(int epoll, int fd) {
    const auto file = file_of(fd);
    if (file == nullptr || file_of(epoll) == nullptr) return -EBADF;
    const auto set = file_as<MemoryEpoll>(epoll);
    return set == nullptr ? -EINVAL : set->remove(*file);
}

int MemoryCalls::epoll_wait(int epoll, epoll_event* events, int events_max, int timeout_ms) {
    if (file_of(epoll) == nullptr) return -EBADF;
    const auto set = file_as<MemoryEpoll>(epoll);
    if (set == nullptr || events_max <= 0) return -EINVAL;
    const int count = set->wait(events, events_max);
    if (count > 0 || timeout_ms == 0) {
        idle_waits_ = 0;
    } else if (++idle_waits_ == idle_waits_max) {
        std::fprintf(stderr, "epoll_wait on the memory network waits for what cannot come\n");
        std::abort();
    }
    return count;
}

int MemoryCalls::eventfd_signal(int fd) {
    const auto file = file_as<MemoryEventfd>(fd);
    if (file == nullptr) return -EBADF;
    file->signal();
    return 0;
}

int MemoryCalls::eventfd_clear(int fd) {
    const auto file = file_as<MemoryEventfd>(fd);
    if (file == nullptr) return -EBADF;
    file->clear();
    return 0;
}

int MemoryCalls::timerfd_arm(int fd, int64_t expiry_ns) {
    const auto file = file_as<MemoryTimerfd>(fd);
    if (file == nullptr) return -EBADF;
    if (expiry_ns < 0) return -EINVAL;
    file->arm(expiry_ns, now_ns_);
    return 0;
}

int MemoryCalls::timerfd_clear(int fd) {
    const auto file = file_as<MemoryTimerfd>(fd);
    if (file == nullptr) return -EBADF;
    file->clear();
    return 0;
}

// --- Listeners -----------------------------------------------------------------------------------

int MemoryCalls::stream_socket(int family) {
    if (family != AF_INET && family != AF_INET6 && family != AF_UNIX) return -EAFNOSUPPORT;
    return open(std::make_shared<MemorySocket>(family));
}

int MemoryCalls::bind(int fd, const sockaddr* address, uint32_t address_bytes) {
    const auto socket = file_as<MemorySocket>(fd);
    if (socket == nullptr) return file_of(fd) == nullptr ? -EBADF : -EINVAL;
    MemoryAddress wanted{address, address_bytes};
    if (socket->is_bound()) return -EINVAL;
    if (wanted.family() != socket->family()) return -EAFNOSUPPORT;
    if (wanted.family() != AF_UNIX && wanted.port() == 0)
        wanted.set_port(free_port(*socket, wanted));
    if (const int error = check_bind(*socket, wanted); error < 0) return error;
    socket->bind_to(wanted);
    return 0;
}

int MemoryCalls::check_bind(const MemorySocket& socket, const MemoryAddress& address) const {
    for (const auto& file : files_) {
        const auto* other = dynamic_cast<const MemorySocket*>(file.get());
        if (other == nullptr || !other->is_bound()) continue;
        if (!other->address().conflicts_with(address)) continue;
        const auto both = [&](int option) {
            return socket.option(SOL_SOCKET, option) != 0 && other->option(SOL_SOCKET, option) != 0;
        };
        if (both(SO_REUSEPORT) || (both(SO_REUSEADDR) && !other->is_listening())) continue;
        return -EADDRINUSE;
    }
    return 0;
}

uint16_t MemoryCalls::free_port(const MemorySocket& socket, MemoryAddress address) const {
    for (uint16_t port = ephemeral_port_first; port < client_port_first; ++port) {
        address.set_port(port);
        if (check_bind(socket, address) == 0) return port;
    }
    return 0;
}

int MemoryCalls::listen(int fd, int backlog) {
    const auto socket = file_as<MemorySocket>(fd);
    if (socket == nullptr) return file_of(fd) == nullptr ? -EBADF : -EINVAL;
    if (!socket->is_bound()) {
        auto any = MemoryAddress::local_host(socket->family(), 0);
        if (socket->family() == AF_UNIX) return -EINVAL;
        any.set_port(free_port(*socket, any));
        socket->bind_to(any);
    }
    for (const auto& file : files_) {
        const auto* other = dynamic_cast<const MemorySocket*>(file.get());
        if (other == nullptr || other == socket.get() || !other->is_listening()) continue;
        const bool share = socket->option(SOL_SOCKET, SO_REUSEPORT) != 0 &&
                           other->option(SOL_SOCKET, SO_REUSEPORT) != 0;
        if (!share && other->address().conflicts_with(socket->address())) return -EADDRINUSE;
    }
    socket->listen(backlog);
    return 0;
}

int MemoryCalls::accept(int fd) {
    const auto socket = file_as<MemorySocket>(fd);
    if (socket == nullptr) return file_of(fd) == nullptr ? -EBADF : -EINVAL;
    if (!socket->is_listening()) return -EINVAL;
    // As in the kernel, the descriptor comes first: with none left the connection stays in line.
    if (open_count() >= descriptors_max_) return -EMFILE;
    auto stream = socket->dequeue();
    return stream == nullptr ? -EAGAIN : open(std::move(stream));
}

int MemoryCalls::set_option(int fd, int level, int option, int value) {
    if (file_of(fd) == nullptr) return -EBADF;
    if (const auto socket = file_as<MemorySocket>(fd))
        socket->set_option(level, option, value);
    else if (file_as<MemoryStream>(fd) == nullptr)
        return -ENOTSOCK;
    return 0;
}

int MemoryCalls::local_address(int fd, sockaddr* address, uint32_t* address_bytes) {
    if (const auto stream = file_as<MemoryStream>(fd)) {
        stream->local().copy_to(address, address_bytes);
        return 0;
    }
    const auto socket = file_as<MemorySocket>(fd);
    if (socket == nullptr) return file_of(fd) == nullptr ? -EBADF : -ENOTSOCK;
    const auto unbound = MemoryAddress::local_host(socket->family(), 0);
    (socket->is_bound() ? socket->address() : unbound).copy_to(address, address_bytes);
    return 0;
}

int MemoryCalls::peer_address(int fd, sockaddr* address, uint32_t* address_bytes) {
    const auto stream = file_as<MemoryStream>(fd);
    if (stream == nullptr) return stream_error(fd);
    if (stream->is_dead()) return -ENOTCONN;
    stream->peer_address().copy_to(address, address_bytes);
    return 0;
}

// --- Streams -------------------------------------------------------------------------------------

int MemoryCalls::stream_error(int fd) const {
    if (file_of(fd) == nullptr) return -EBADF;
    return file_as<MemorySocket>(fd) == nullptr ? -ENOTSOCK : -ENOTCONN;
}

int64_t MemoryCalls::receive(int fd, char* into, size_t bytes_max) {
    const auto stream = file_as<MemoryStream>(fd);
    return stream == nullptr ? stream_error(fd) : stream->receive(into, bytes_max);
}

int64_t MemoryCalls::send(int fd, const char* from, size_t bytes) {
    const auto stream = file_as<MemoryStream>(fd);
    return stream == nullptr ? stream_error(fd) : stream->send({from, bytes});
}

int64_t MemoryCalls::send_gathered(int fd, const iovec* pieces, size_t piece_count) {
    std::string all;
    for (size_t index = 0; index < std::min<size_t>(piece_count, IOV_MAX); ++index)
        all.append(static_cast<const char*>(pieces[index].iov_base), pieces[index].iov_len);
    return send(fd, all.data(), all.size());
}

int MemoryCalls::shutdown_send(int fd) {
    const auto stream = file_as<MemoryStream>(fd);
    return stream == nullptr ? stream_error(fd) : stream->shutdown_send();
}

net::sys::SendRingOwner MemoryCalls::open_send_ring() {
    return net::sys::SendRingOwner(new net::sys::SendRing);
}

void MemoryCalls::send_each(net::sys::SendRing&, std::span<net::sys::Send> sends) {
    for (net::sys::Send& one : sends)
        one.result = send(one.fd, one.from, one.bytes);
}

// --- The far end ---------------------------------------------------------------------------------

std::shared_ptr<MemoryStream> MemoryCalls::connect(uint16_t port, size_t buffer_bytes) {
    std::vector<MemorySocket*> listeners;
    for (const auto& file : files_) {
        auto* socket = dynamic_cast<MemorySocket*>(file.get());
        if (socket == nullptr || !socket->is_listening() || socket->family() == AF_UNIX) continue;
        if (socket->address().port() == port) listeners.push_back(socket);
    }
    if (listeners.empty()) return nullptr;
    // Those that share the port (SO_REUSEPORT) take turns.
    return connect_to(*listeners[listener_turn_++ % listeners.size()], buffer_bytes);
}

std::shared_ptr<MemoryStream> MemoryCalls::connect_unix(std::string_view path,
                                                        size_t buffer_bytes) {
    sockaddr_un wanted{};
    wanted.sun_family = AF_UNIX;
    path.copy(wanted.sun_path, sizeof wanted.sun_path - 1);
    for (const auto& file : files_) {
        auto* socket = dynamic_cast<MemorySocket*>(file.get());
        if (socket == nullptr || !socket->is_listening() || socket->family() != AF_UNIX) continue;
        sockaddr_un address{};
        uint32_t room = sizeof address;
        socket->address().copy_to(reinterpret_cast<sockaddr*>(&address), &room);
        if (std::memcmp(address.sun_path, wanted.sun_path, sizeof wanted.sun_path) == 0)
            return connect_to(*socket, buffer_bytes);
    }
    return nullptr;
}

std::shared_ptr<MemoryStream> MemoryCalls::connect_to(MemorySocket& listener, size_t buffer_bytes) {
    const uint16_t port = listener.address().port();
    const auto local = listener.family() == AF_UNIX
                           ? listener.address()
                           : MemoryAddress::local_host(listener.family(), port);
    const auto far = MemoryAddress::local_host(listener.family(), client_port_);
    client_port_ = client_port_ == UINT16_MAX ? client_port_first : client_port_ + 1;
    auto server = std::make_shared<MemoryStream>(buffer_bytes, local, far);
    auto client = std::make_shared<MemoryStream>(buffer_bytes, far, local);
    MemoryStream::join(server, client);
    return listener.enqueue(std::move(server)) ? client : nullptr;
}

}  // namespace millrace::testing
