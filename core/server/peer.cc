#include "core/server/peer.h"

#include "core/net/address.h"
#include "core/net/sys.h"
#include "core/server/connection.h"

namespace millrace::server {

Peer peer_of(const Connection& connection) {
    net::SocketAddress address;
    address.bytes = sizeof address.storage;
    if (net::sys::peer_address(connection.descriptor(), address.get(), &address.bytes) < 0)
        return {};
    const int port = address.port();
    return {std::string{address.ip()}, port < 0 ? uint16_t{0} : static_cast<uint16_t>(port)};
}

std::string ip_text(std::string_view ip) { return net::ip_text(ip); }

}  // namespace millrace::server
