#include "core/net/listener.h"

#include "core/net/sys.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <cerrno>
#include <vector>

namespace millrace::net {
namespace {

int set_options(int fd, int family, PortSharing sharing) {
    if (int error = sys::set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1); error < 0) return error;
    if (sharing == PortSharing::shared)
        if (int error = sys::set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1); error < 0) return error;
    if (family == AF_INET6)
        if (int error = sys::set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0); error < 0) return error;
    // Accepted sockets inherit it. A turn's answers leave in one write, so there is nothing for
    // Nagle to gather.
    return sys::set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

int open_one(const SocketAddress& address, const ListenOptions& options) {
    const int fd = sys::stream_socket(address.family());
    if (fd < 0) return fd;
    int error = set_options(fd, address.family(), options.sharing);
    if (error >= 0) error = sys::bind(fd, address.get(), address.bytes);
    if (error >= 0) error = sys::listen(fd, options.backlog);
    if (error >= 0) return fd;
    sys::close(fd);
    return error;
}

// Below zero: a negated errno.
int port_of(int fd) {
    SocketAddress address;
    address.bytes = sizeof address.storage;
    const int error = sys::local_address(fd, address.get(), &address.bytes);
    return error < 0 ? error : address.port();
}

}  // namespace

std::unique_ptr<Listener> Listener::open(EventLoop& loop, const ListenOptions& options,
                                         OnAccept on_accept, int& error) {
    std::vector<SocketAddress> addresses;
    error = resolve_to_listen(options.host, options.port, addresses);
    if (error < 0) return nullptr;
    for (const auto& address : addresses) {
        const int fd = open_one(address, options);
        if (fd < 0) {
            error = fd;
            // Only a missing address family is a reason to try the next address: a name that has
            // several addresses must not end up on the one that somebody left free.
            if (error == -EAFNOSUPPORT || error == -EADDRNOTAVAIL) continue;
            return nullptr;
        }
        error = port_of(fd);
        std::unique_ptr<Listener> listener(new Listener(loop, fd, error, std::move(on_accept)));
        if (error >= 0) error = loop.watch(fd, *listener);
        if (error < 0) return nullptr;
        return listener;
    }
    return nullptr;
}

Listener::Listener(EventLoop& loop, int fd, int port, OnAccept on_accept)
    : loop_(loop), fd_(fd), port_(port), on_accept_(std::move(on_accept)) {}

Listener::~Listener() { close(); }

void Listener::close() {
    if (fd_ < 0) return;
    loop_.disarm(*this);
    loop_.unwatch(fd_, *this);
    sys::close(fd_);
    fd_ = -1;
}

void Listener::on_ready(Readiness) { accept_some(); }

void Listener::on_timer() { accept_some(); }

void Listener::accept_some() {
    for (int count = 0; count < accepts_per_turn; ++count) {
        if (fd_ < 0) return;  // closed by a callback
        const int fd = sys::accept(fd_);
        if (fd >= 0) {
            on_accept_(fd);
            continue;
        }
        if (fd == -EAGAIN || fd == -EWOULDBLOCK) return;
        if (fd == -EMFILE || fd == -ENFILE || fd == -ENOBUFS || fd == -ENOMEM) {
            loop_.arm(*this, loop_.now_ms() + retry_ms);
            return;
        }
        // Anything else concerns the one connection that could not be accepted: accept(2) lists the
        // network errors that it passes on.
    }
    if (fd_ >= 0) loop_.again(*this);
}

}  // namespace millrace::net
