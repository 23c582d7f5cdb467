#include "core/testing/guard_page.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>

namespace millrace::testing {

GuardedBuffer::GuardedBuffer(size_t capacity) : capacity_(capacity) {
    const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t readable_bytes = (capacity + page_bytes - 1) / page_bytes * page_bytes;
    mapped_bytes_ = readable_bytes + page_bytes;
    void* const mapping =
        mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) throw std::bad_alloc{};
    mapping_ = static_cast<char*>(mapping);
    end_ = mapping_ + readable_bytes;
    if (mprotect(end_, page_bytes, PROT_NONE) != 0) {
        munmap(mapping_, mapped_bytes_);
        throw std::bad_alloc{};
    }
}

GuardedBuffer::~GuardedBuffer() { munmap(mapping_, mapped_bytes_); }

std::string_view GuardedBuffer::put_at_end(std::string_view text) {
    if (text.size() > capacity_) throw std::bad_alloc{};
    char* const begin = end_ - text.size();
    if (!text.empty()) std::memcpy(begin, text.data(), text.size());
    return {begin, text.size()};
}

PaddedBytes GuardedBuffer::put_padded(std::string_view text, std::string_view behind) {
    if (text.size() + scan_padding_bytes > capacity_) throw std::bad_alloc{};
    char* const padding = end_ - scan_padding_bytes;
    for (size_t at = 0; at < scan_padding_bytes; ++at) {
        padding[at] = behind.empty() ? '\0' : behind[at % behind.size()];
    }
    char* const begin = padding - text.size();
    if (!text.empty()) std::memcpy(begin, text.data(), text.size());
    return PaddedBytes::promise(begin, text.size());
}

}  // namespace millrace::testing
