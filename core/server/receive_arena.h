// Where received bytes lie until the batch that they belong to is over.
#pragma once

#include "core/base/bytes.h"

#include <cstddef>
#include <memory>
#include <span>

namespace millrace::server {

class ReceiveArena {
  public:
    static constexpr size_t default_bytes = 512 * KiB;
    static constexpr size_t bytes_min = 64 * KiB;

    // Uses `memory`, which must outlive the arena, or memory of its own if it is empty.
    explicit ReceiveArena(std::span<char> memory);

    bool is_empty() const { return used_ == 0; }

    // Free bytes, not counting the scan padding.
    size_t room() const {
        const size_t left = memory_.size() - used_;
        return left > scan_padding_bytes ? left - scan_padding_bytes : 0;
    }

    // The free bytes; stays valid until reset().
    char* begin() { return memory_.data() + used_; }

    // Takes `count` bytes; what follows them serves as padding and may be written over later.
    void take(size_t count) { used_ += count; }

    void reset() { used_ = 0; }

    // What room() can come to: no limit if the memory is the arena's own.
    size_t room_max() const { return own_ ? SIZE_MAX : memory_.size() - scan_padding_bytes; }

    // Takes other memory, for room() of at least `bytes`. Only while nothing is taken, and only if
    // the memory is the arena's own. Throws std::bad_alloc.
    void grow(size_t bytes);

  private:
    std::unique_ptr<char[]> own_;
    std::span<char> memory_;
    size_t used_ = 0;
};

}  // namespace millrace::server
