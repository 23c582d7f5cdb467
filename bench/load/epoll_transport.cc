#include "bench/load/epoll_transport.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

namespace millrace::load {
namespace {

constexpr size_t buffer_bytes = 256 * 1024;
// Reading from some connections before writing to them keeps the kernel's receive and send paths in
// the instruction cache; more than this would leave the server without work.
constexpr int group_max = 16;

}  // namespace

EpollTransport::EpollTransport() : epoll_(epoll_create1(EPOLL_CLOEXEC)), buffer_(buffer_bytes) {}

void EpollTransport::add(Connection& connection) {
    set_non_blocking(connection.fd());
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.ptr = &connection;
    epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, connection.fd(), &event);
}

ErrorKind EpollTransport::flush(Connection& connection) {
    while (connection.blocked()) {
        const std::string_view bytes = connection.unsent();
        const ssize_t sent = send(connection.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0) return errno == EAGAIN ? ErrorKind::none : ErrorKind::write;
        connection.on_sent(static_cast<size_t>(sent));
    }
    return ErrorKind::none;
}

void EpollTransport::wait(int64_t timeout_ns, Sink& sink) {
    std::array<epoll_event, 512> events;
    const int ready = epoll_wait(epoll_.get(), events.data(), events.size(),
                                 static_cast<int>((timeout_ns + 999'999) / 1'000'000));
    sink.on_wake();
    for (int begin = 0; begin < ready; begin += group_max) {
        const int end = std::min(ready, begin + group_max);
        for (int i = begin; i < end; ++i) {
            on_event(*static_cast<Connection*>(events[i].data.ptr), events[i].events, sink);
        }
        sink.on_group_end();
    }
}

void EpollTransport::on_event(Connection& connection, uint32_t events, Sink& sink) {
    const uint32_t ending = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
    if (connection.open() && (events & (EPOLLIN | ending)) != 0) {
        receive(connection, (events & ending) != 0, sink);
    }
    if (!connection.open()) return;
    const ErrorKind error = flush(connection);
    if (error != ErrorKind::none) sink.on_failure(connection, error);
}

void EpollTransport::receive(Connection& connection, bool is_ending, Sink& sink) {
    while (connection.open()) {
        const ssize_t got = recv(connection.fd(), buffer_.data(), buffer_.size(), 0);
        if (got < 0 && errno == EAGAIN) return;
        if (got < 0) return sink.on_failure(connection, ErrorKind::read);
        if (got == 0) return sink.on_failure(connection, ErrorKind::disconnect);
        const auto size = static_cast<size_t>(got);
        sink.on_bytes(connection, {buffer_.data(), size});
        // A short read has emptied the socket: epoll will tell of everything that comes later.
        if (size < buffer_.size() && !is_ending) return;
    }
}

}  // namespace millrace::load
