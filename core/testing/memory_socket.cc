#include "core/testing/memory_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace millrace::testing {

namespace {

constexpr uint32_t all_events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLHUP | EPOLLERR;

}  // namespace

// --- MemoryAddress -------------------------------------------------------------------------------

MemoryAddress MemoryAddress::local_host(int family, uint16_t port) {
    if (family == AF_INET6) {
        sockaddr_in6 address{};
        address.sin6_family = AF_INET6;
        address.sin6_port = htons(port);
        inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.sin6_addr);
        return {reinterpret_cast<const sockaddr*>(&address), sizeof address};
    }
    if (family == AF_UNIX) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        return {reinterpret_cast<const sockaddr*>(&address), offsetof(sockaddr_un, sun_path)};
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return {reinterpret_cast<const sockaddr*>(&address), sizeof address};
}

template <typename Address>
Address MemoryAddress::as() const {
    Address address{};
    std::memcpy(&address, bytes_.data(), std::min(bytes_.size(), sizeof address));
    return address;
}

int MemoryAddress::family() const {
    return bytes_.size() >= sizeof(sa_family_t) ? as<sockaddr>().sa_family : AF_UNSPEC;
}

uint16_t MemoryAddress::port() const {
    if (family() == AF_INET) return ntohs(as<sockaddr_in>().sin_port);
    if (family() == AF_INET6) return ntohs(as<sockaddr_in6>().sin6_port);
    return 0;
}

void MemoryAddress::set_port(uint16_t port) {
    static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
    const uint16_t network_order = htons(port);
    std::memcpy(bytes_.data() + offsetof(sockaddr_in, sin_port), &network_order,
                sizeof network_order);
}

bool MemoryAddress::is_wildcard() const {
    if (family() == AF_INET) return as<sockaddr_in>().sin_addr.s_addr == htonl(INADDR_ANY);
    if (family() != AF_INET6) return false;
    const auto address = as<sockaddr_in6>().sin6_addr;
    return std::memcmp(&address, &in6addr_any, sizeof address) == 0;
}

bool MemoryAddress::conflicts_with(const MemoryAddress& other) const {
    if (family() == AF_UNIX || other.family() == AF_UNIX) return *this == other;
    if (port() != other.port()) return false;
    return is_wildcard() || other.is_wildcard() || *this == other;
}

void MemoryAddress::copy_to(sockaddr* into, uint32_t* room) const {
    std::memcpy(into, bytes_.data(), std::min<size_t>(*room, bytes_.size()));
    *room = static_cast<uint32_t>(bytes_.size());
}

// --- MemoryStream --------------------------------------------------------------------------------

void MemoryStream::join(const std::shared_ptr<MemoryStream>& a,
                        const std::shared_ptr<MemoryStream>& b) {
    a->peer_ = b;
    b->peer_ = a;
}

int64_t MemoryStream::receive(char* into, size_t bytes_max) {
    const size_t count = std::min(bytes_max, unread_bytes());
    if (count > 0) {
        std::memcpy(into, inbox_.data() + inbox_begin_, count);
        inbox_begin_ += count;
        if (inbox_begin_ == inbox_.size()) {
            inbox_.clear();
            inbox_begin_ = 0;
        }
        if (const auto peer = peer_.lock()) peer->on_room();
        return static_cast<int64_t>(count);
    }
    if (has_received_fin_ || unread_bytes() > 0) return 0;
    if (error_ != 0) return -std::exchange(error_, 0);
    return is_dead_ ? 0 : -EAGAIN;
}

int64_t MemoryStream::send(std::string_view bytes) {
    if (error_ != 0) return -std::exchange(error_, 0);
    if (is_dead_ || has_sent_fin_) return -EPIPE;
    const auto peer = peer_.lock();
    if (peer == nullptr || peer->is_closed_) {
        // The kernel takes the bytes; the other host answers them with RST.
        die(has_received_fin_ ? EPIPE : ECONNRESET);
        return static_cast<int64_t>(bytes.size());
    }
    const size_t count = std::min(bytes.size(), peer->room());
    if (count < bytes.size()) wants_room_ = true;
    if (count == 0 && !bytes.empty()) return -EAGAIN;
    if (count == 0) return 0;
    // Bytes that were read are dropped before the buffer grows beyond its size.
    if (peer->inbox_.size() + count > peer->buffer_bytes_) {
        peer->inbox_.erase(0, peer->inbox_begin_);
        peer->inbox_begin_ = 0;
    }
    peer->inbox_.append(bytes.substr(0, count));
    peer->notify(EPOLLIN);
    return static_cast<int64_t>(count);
}

int MemoryStream::shutdown_send() {
    if (is_dead_) return -ENOTCONN;
    if (has_sent_fin_) return 0;
    has_sent_fin_ = true;
    if (const auto peer = peer_.lock()) peer->on_finish();
    // Both directions are over: that is news for whoever watches this end (EPOLLHUP).
    if (has_received_fin_) notify(all_events);
    return 0;
}

void MemoryStream::reset() {
    if (is_dead_) return;
    is_dead_ = true;
    if (const auto peer = peer_.lock()) peer->on_reset();
}

void MemoryStream::on_close() {
    if (is_closed_) return;
    is_closed_ = true;
    if (is_dead_) return;
    // RFC 1122 section 4.2.2.13: closing with data unread is answered with RST.
    if (unread_bytes() > 0) return reset();
    shutdown_send();
}

uint32_t MemoryStream::poll() {
    uint32_t events = 0;
    if (is_dead_ || (has_sent_fin_ && has_received_fin_)) events |= EPOLLHUP;
    if (is_dead_ || has_received_fin_) events |= EPOLLIN | EPOLLRDHUP;
    if (unread_bytes() > 0) events |= EPOLLIN;
    if (is_writable())
        events |= EPOLLOUT;
    else
        wants_room_ = true;
    if (error_ != 0) events |= EPOLLERR;
    return events;
}

bool MemoryStream::is_writable() const {
    const auto peer = peer_.lock();
    if (is_dead_ || has_sent_fin_ || peer == nullptr || peer->is_closed_) return true;
    // Linux reports room only when it is worth a system call: a third of the buffer.
    return peer->room() * 3 >= peer->buffer_bytes_;
}

void MemoryStream::on_finish() {
    if (is_dead_ || is_closed_) return;
    has_received_fin_ = true;
    notify(EPOLLIN | EPOLLRDHUP | (has_sent_fin_ ? EPOLLHUP : 0u));
}

void MemoryStream::on_reset() {
    if (!is_dead_) die(has_received_fin_ ? EPIPE : ECONNRESET);
}

void MemoryStream::on_room() {
    if (!wants_room_ || !is_writable()) return;
    wants_room_ = false;
    notify(EPOLLOUT);
}

void MemoryStream::die(int error) {
    is_dead_ = true;
    error_ = error;
    notify(all_events);
}

// --- MemorySocket --------------------------------------------------------------------------------

bool MemorySocket::enqueue(std::shared_ptr<MemoryStream> stream) {
    if (pending_.size() > backlog_) return false;
    pending_.push_back(std::move(stream));
    notify(EPOLLIN);
    return true;
}

std::shared_ptr<MemoryStream> MemorySocket::dequeue() {
    if (pending_.empty()) return nullptr;
    auto stream = std::move(pending_.front());
    pending_.pop_front();
    return stream;
}

void MemorySocket::on_close() {
    for (const auto& stream : pending_)
        stream->reset();
    pending_.clear();
    is_bound_ = is_listening_ = false;
}

uint32_t MemorySocket::poll() {
    if (!is_listening_) return EPOLLOUT | EPOLLHUP;
    return pending_.empty() ? 0u : EPOLLIN;
}

void MemorySocket::bind_to(const MemoryAddress& address) {
    address_ = address;
    is_bound_ = true;
}

void MemorySocket::listen(int backlog) {
    is_listening_ = true;
    backlog_ = static_cast<size_t>(std::max(backlog, 0));
}

int MemorySocket::option(int level, int option) const {
    const auto found = options_.find({level, option});
    return found == options_.end() ? 0 : found->second;
}

}  // namespace millrace::testing
