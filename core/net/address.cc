#include "core/net/address.h"

#include <netdb.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstring>

namespace millrace::net {
namespace {

SocketAddress wildcard_v6(uint16_t port) {
    SocketAddress address;
    auto* in6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(port);
    in6->sin6_addr = in6addr_any;
    address.bytes = sizeof(sockaddr_in6);
    return address;
}

SocketAddress wildcard_v4(uint16_t port) {
    SocketAddress address;
    auto* in = reinterpret_cast<sockaddr_in*>(&address.storage);
    in->sin_family = AF_INET;
    in->sin_port = htons(port);
    address.bytes = sizeof(sockaddr_in);
    return address;
}

}  // namespace

int SocketAddress::port() const {
    if (family() == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
    if (family() == AF_INET6)
        return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
    return -1;
}

std::string_view SocketAddress::ip() const {
    if (family() == AF_INET) {
        const auto* in = reinterpret_cast<const sockaddr_in*>(&storage);
        return {reinterpret_cast<const char*>(&in->sin_addr), 4};
    }
    if (family() == AF_INET6) {
        const auto* in6 = reinterpret_cast<const sockaddr_in6*>(&storage);
        return {reinterpret_cast<const char*>(&in6->sin6_addr), 16};
    }
    return {};
}

std::string ip_text(std::string_view ip) {
    std::string text;
    const auto byte_at = [ip](size_t index) { return static_cast<unsigned char>(ip[index]); };
    if (ip.size() == 4) {
        for (size_t index = 0; index < 4; ++index) {
            if (index) text += '.';
            text += std::to_string(byte_at(index));
        }
    } else if (ip.size() == 16) {
        constexpr char digits[] = "0123456789abcdef";
        for (size_t index = 0; index < 16; ++index) {
            if (index && index % 2 == 0) text += ':';
            text += digits[byte_at(index) >> 4];
            text += digits[byte_at(index) & 15];
        }
    }
    return text;
}

int resolve_to_listen(const std::string& host, uint16_t port, std::vector<SocketAddress>& into) {
    into.clear();
    if (host.empty()) {
        into = {wildcard_v6(port), wildcard_v4(port)};
        return 0;
    }
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
        return -EADDRNOTAVAIL;
    for (const addrinfo* one = found; one; one = one->ai_next) {
        SocketAddress address;
        std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
        address.bytes = one->ai_addrlen;
        into.push_back(address);
    }
    freeaddrinfo(found);
    return into.empty() ? -EADDRNOTAVAIL : 0;
}

}  // namespace millrace::net
