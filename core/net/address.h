// Addresses of stream sockets.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::net {

struct SocketAddress {
    sockaddr_storage storage{};
    uint32_t bytes = 0;

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
    sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
    int family() const { return storage.ss_family; }

    // Port in host order; -1 for what has none.
    int port() const;

    // The bytes of the IP address in network order: 4, 16, or 0 for what has none. Valid as long as
    // the object.
    std::string_view ip() const;
};

// An IP address as text: dotted decimal, or eight groups of four lower-case hexadecimal digits.
std::string ip_text(std::string_view ip);

// Addresses to listen on. An empty host means all interfaces: the IPv6 wildcard, which serves IPv4
// as well, and the IPv4 wildcard for kernels without IPv6. Names are resolved, which may block.
// Returns 0 or a negated errno (-EADDRNOTAVAIL if the name is unknown).
int resolve_to_listen(const std::string& host, uint16_t port, std::vector<SocketAddress>& into);

}  // namespace millrace::net
