#include "core/server/receive_arena.h"

#include "core/base/assert.h"

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

void ReceiveArena::grow(size_t bytes) {
    MR_ASSERT(own_ && is_empty());
    const size_t size = bytes + scan_padding_bytes;
    own_ = std::make_unique<char[]>(size);
    memory_ = {own_.get(), size};
}

}  // namespace millrace::server
