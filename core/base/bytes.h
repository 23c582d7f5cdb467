// Byte views that the rooms pass to each other.
#pragma once

#include "core/base/assert.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace millrace {

inline constexpr size_t KiB = 1024;
inline constexpr size_t MiB = 1024 * KiB;

// How far past the end of a PaddedBytes a vectorised scanner may read (never write). The bytes
// there have no meaning.
inline constexpr size_t scan_padding_bytes = 32;

// A view whose owner guarantees scan_padding_bytes of readable memory behind its end. The guarantee
// is part of the type, so that no scanner relies on the habit of a caller.
class PaddedBytes {
  public:
    constexpr PaddedBytes() = default;

    // `data` must have `size` + scan_padding_bytes readable bytes.
    static constexpr PaddedBytes promise(const char* data, size_t size) { return {data, size}; }

    constexpr const char* data() const { return data_; }
    constexpr size_t size() const { return size_; }
    constexpr const char* begin() const { return data_; }
    constexpr const char* end() const { return data_ + size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr std::string_view text() const { return {data_, size_}; }

    // What is left behind the first `count` bytes. Keeps the guarantee.
    constexpr PaddedBytes from(size_t count) const {
        MR_ASSERT(count <= size_);
        return {data_ + count, size_ - count};
    }

  private:
    constexpr PaddedBytes(const char* data, size_t size) : data_(data), size_(size) {}

    const char* data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace millrace
