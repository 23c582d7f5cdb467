// Text that is built by appending, most often short.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace millrace {

// The first `inline_bytes` bytes lie in the object itself. Throws std::bad_alloc.
template <size_t inline_bytes>
class SmallText {
  public:
    SmallText() = default;
    SmallText(const SmallText& other) { append(other.view()); }
    SmallText& operator=(const SmallText& other) {
        if (this == &other) return *this;
        clear();
        append(other.view());
        return *this;
    }

    bool empty() const { return size_ == 0; }
    size_t size() const { return size_; }
    // Valid until the text changes.
    std::string_view view() const { return {data(), size_}; }

    void append(std::string_view text) { commit(put(begin(text.size()), text)); }

    // Room for `bytes` more; what is written there counts after commit().
    char* begin(size_t bytes) {
        if (size_ + bytes > capacity_) grow(size_ + bytes);
        return data() + size_;
    }
    void commit(const char* end) { size_ = static_cast<size_t>(end - data()); }

    // Gives back what was taken beyond the object.
    void clear() {
        size_ = 0;
        if (capacity_ == inline_bytes) return;
        heap_.reset();
        capacity_ = inline_bytes;
    }

    static char* put(char* out, std::string_view text) {
        if (!text.empty()) std::memcpy(out, text.data(), text.size());
        return out + text.size();
    }

  private:
    char* data() { return heap_ ? heap_.get() : inline_; }
    const char* data() const { return heap_ ? heap_.get() : inline_; }

    void grow(size_t wanted) {
        const size_t capacity = wanted * 2;
        auto grown = std::make_unique_for_overwrite<char[]>(capacity);
        std::memcpy(grown.get(), data(), size_);
        heap_ = std::move(grown);
        capacity_ = capacity;
    }

    size_t size_ = 0;
    size_t capacity_ = inline_bytes;
    std::unique_ptr<char[]> heap_;
    char inline_[inline_bytes];
};

}  // namespace millrace
