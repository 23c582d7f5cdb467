#include "bench/limit/canned_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace millrace::limit {
namespace {

constexpr size_t buffer_bytes = 64 * 1024;
constexpr size_t copies = 256;  // responses that one write can carry
constexpr size_t carry_bytes_max = 3;
constexpr int events_max = 512;

int listen_on_loopback(uint16_t& port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    const bool fine = bind(fd, generic, size) == 0 && listen(fd, 4096) == 0 &&
                      getsockname(fd, generic, &size) == 0;
    port = fine ? ntohs(address.sin_port) : 0;
    return fd;
}

void watch(int epoll, int fd, uint32_t events, void* tag) {
    epoll_event event{};
    event.events = events;
    event.data.ptr = tag;
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

std::string build_response(time_t now_s) {
    char date[32];
    tm utc;
    gmtime_r(&now_s, &utc);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    return "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nDate: " + std::string(date) +
           "\r\nContent-Length: 11\r\n\r\n{\"ok\":true}";
}

}  // namespace

size_t count_request_ends(std::string_view bytes) {
    if (bytes.size() < 4) return 0;
    const char* at = bytes.data();
    const size_t last = bytes.size() - 3;
    size_t count = 0;
    // Without branches, so that compilers make vector code of it. The inner sum fits in a byte.
    for (size_t begin = 0; begin < last;) {
        const size_t end = std::min(last, begin + 128);
        uint8_t found = 0;
        for (; begin < end; ++begin) {
            found =
                static_cast<uint8_t>(found + ((at[begin] == '\r') & (at[begin + 1] == '\n') &
                                              (at[begin + 2] == '\r') & (at[begin + 3] == '\n')));
        }
        count += found;
    }
    return count;
}

CannedServer::CannedServer(uint16_t port, Sends sends)
    : port_(port),
      listener_(listen_on_loopback(port_)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      buffer_(buffer_bytes) {
    if (sends == Sends::grouped) ring_.emplace(events_max, 2 * events_max, 0);
    watch(epoll_, listener_, EPOLLIN, &listener_);
    watch(epoll_, wake_, EPOLLIN, &wake_);
}

CannedServer::~CannedServer() {
    for (Peer& peer : peers_)
        drop(peer);
    close(listener_);
    close(epoll_);
    close(wake_);
}

void CannedServer::run() {
    std::array<epoll_event, events_max> events;
    while (!stopping_) {
        const int ready = epoll_wait(epoll_, events.data(), events.size(), -1);
        refresh_date();
        for (int i = 0; i < ready; ++i) {
            void* tag = events[i].data.ptr;
            if (tag == &listener_) {
                accept_all();
            } else if (tag == &wake_) {
                stopping_ = true;
            } else {
                serve(*static_cast<Peer*>(tag), events[i].events);
            }
        }
        flush_answered();
    }
}

void CannedServer::stop() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
}

void CannedServer::accept_all() {
    while (true) {
        const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) return;
        const int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        Peer& peer = peer_of(fd);
        peer = Peer{};
        peer.fd = fd;
        watch(epoll_, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, &peer);
    }
}

CannedServer::Peer& CannedServer::peer_of(int fd) {
    const auto index = static_cast<size_t>(fd);
    while (peers_.size() <= index)
        peers_.emplace_back();
    return peers_[index];
}

void CannedServer::serve(Peer& peer, uint32_t events) {
    if (peer.unsent_bytes != 0) flush(peer);
    const bool ending = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
    if (peer.fd >= 0) read_requests(peer, ending);
}

void CannedServer::read_requests(Peer& peer, bool to_the_end) {
    while (true) {
        std::memcpy(buffer_.data(), peer.carried, carry_bytes_max);
        char* const room = buffer_.data() + peer.carried_bytes;
        const size_t room_bytes = buffer_.size() - peer.carried_bytes;
        const ssize_t got = recv(peer.fd, room, room_bytes, 0);
        if (got < 0 && errno == EAGAIN) return;
        if (got <= 0) return drop(peer);
        const size_t filled = peer.carried_bytes + static_cast<size_t>(got);
        const size_t ends = count_request_ends({buffer_.data(), filled});
        peer.carried_bytes = static_cast<uint8_t>(std::min(filled, carry_bytes_max));
        std::memcpy(peer.carried, buffer_.data() + filled - peer.carried_bytes, peer.carried_bytes);
        if (peer.unsent_bytes == 0 && ends != 0) answered_.push_back(&peer);
        peer.unsent_bytes += ends * response_bytes_;
        // A short read has emptied the socket: epoll will tell of everything that comes later.
        const bool emptied = static_cast<size_t>(got) < room_bytes && !to_the_end;
        if (peer.fd < 0 || emptied) return;
    }
}

void CannedServer::flush_answered() {
    if (answered_.size() > 1 && ring_ && can_send()) send_together();
    flushing_.swap(answered_);  // drop() looks at the other one
    for (Peer* peer : flushing_)
        flush(*peer);
    flushing_.clear();
}

void CannedServer::send_together() {
    for (size_t i = 0; i < answered_.size(); ++i) {
        io_uring_sqe& entry = *ring_->next();  // a wait brings no more than there are entries
        const Peer& peer = *answered_[i];
        net::prepare_send(entry, peer.fd, unsent(peer), MSG_NOSIGNAL | MSG_DONTWAIT, i);
    }
    ring_->enter();
    ring_->withdraw();
    ring_->each_completion([this](const io_uring_cqe& completion) {
        if (completion.res <= 0) return;  // flush() will find out
        answered_[completion.user_data]->unsent_bytes -= static_cast<uint64_t>(completion.res);
    });
}

// A part of what is unsent, as it lies in the responses.
std::string_view CannedServer::unsent(const Peer& peer) const {
    const size_t begin = (response_bytes_ - peer.unsent_bytes % response_bytes_) % response_bytes_;
    return std::string_view(responses_).substr(begin, peer.unsent_bytes);
}

void CannedServer::flush(Peer& peer) {
    while (peer.unsent_bytes != 0) {
        const std::string_view bytes = unsent(peer);
        const ssize_t sent = send(peer.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) return;
        if (sent < 0) return drop(peer);
        peer.unsent_bytes -= static_cast<uint64_t>(sent);
    }
}

void CannedServer::drop(Peer& peer) {
    if (peer.fd >= 0) close(peer.fd);
    std::erase(answered_, &peer);
    peer = Peer{};
}

void CannedServer::refresh_date() {
    timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec == date_s_) return;
    date_s_ = now.tv_sec;
    const std::string response = build_response(now.tv_sec);
    response_bytes_ = response.size();
    responses_.clear();
    for (size_t i = 0; i < copies; ++i)
        responses_ += response;
}

}  // namespace millrace::limit
