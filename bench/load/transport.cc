#include "bench/load/transport.h"

#include "bench/load/epoll_transport.h"
#include "bench/load/ring_transport.h"
#include "bench/load/socket.h"

#include <cstring>

namespace millrace::load {

std::unique_ptr<Transport> open_transport(const Options& options, uint32_t connections,
                                          std::string& error) {
    raise_descriptor_limit(64 + uint64_t{connections});
    if (options.transport == TransportChoice::epoll) return std::make_unique<EpollTransport>();
    auto ring = std::make_unique<RingTransport>(connections);
    const int failure = ring->failure();
    if (failure == 0) return ring;
    if (options.transport == TransportChoice::automatic) return std::make_unique<EpollTransport>();
    error = std::string("io_uring: ") + std::strerror(failure);
    return nullptr;
}

}  // namespace millrace::load
