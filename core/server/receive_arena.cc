#include "core/server/receive_arena.h"

#include <stdexcept>

namespace millrace::server {

ReceiveArena::ReceiveArena(std::span<char> memory) : memory_(memory) {
    if (memory.empty()) {
        own_ = std::make_unique<char[]>(default_bytes);
        memory_ = {own_.get(), default_bytes};
    } else if (memory.size() < bytes_min) {
        throw std::invalid_argument("the receive arena must have at least 64 KiB");
    }
}

}  // namespace millrace::server
