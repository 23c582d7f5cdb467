// Memory that ends where reading on is a crash.
#pragma once

#include "core/base/bytes.h"

#include <cstddef>
#include <string_view>

namespace millrace::testing {

// `capacity` bytes, the last of them right before a page that can be neither read nor written.
class GuardedBuffer {
  public:
    explicit GuardedBuffer(size_t capacity);
    ~GuardedBuffer();
    GuardedBuffer(const GuardedBuffer&) = delete;
    GuardedBuffer& operator=(const GuardedBuffer&) = delete;

    // A copy of `text` whose last byte is the last before the guard page. Valid until the next
    // call. `text` must fit the capacity.
    std::string_view put_at_end(std::string_view text);

    // A copy of `text` with just the padding that PaddedBytes promises behind it, then the guard
    // page. The padding holds the first bytes of `behind`, repeated: what a stale buffer could hold
    // there. Valid until the next call. `text` and padding must fit the capacity.
    PaddedBytes put_padded(std::string_view text, std::string_view behind);

  private:
    size_t mapped_bytes_ = 0;
    char* mapping_ = nullptr;
    char* end_ = nullptr;  // of the readable part
    size_t capacity_ = 0;
};

}  // namespace millrace::testing
