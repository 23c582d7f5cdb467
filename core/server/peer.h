// Who is at the other end of a connection.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::server {

class Connection;

struct Peer {
    std::string ip;     // in network order: 4 or 16 bytes, or none if it is unknown by now
    uint16_t port = 0;  // 0 if unknown
};

Peer peer_of(const Connection& connection);

// An IP address in network order as text: dotted decimal, or eight groups of four lower-case
// hexadecimal digits.
std::string ip_text(std::string_view ip);

}  // namespace millrace::server
