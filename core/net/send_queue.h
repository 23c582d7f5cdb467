// Bytes that the kernel did not take yet. Memory is taken in blocks and given back as they drain.
#pragma once

#include <cstddef>
#include <string_view>

struct iovec;

namespace millrace::net {

class SendQueue {
  public:
    static constexpr size_t block_bytes = 16 * 1024;

    bool empty() const { return bytes_ == 0; }
    size_t bytes() const { return bytes_; }

    // Copies. Throws std::bad_alloc.
    void append(std::string_view bytes);

    // Copies, in front of all that is there. Throws std::bad_alloc.
    void prepend(std::string_view bytes);

    // The first pieces in order, for a gathered write; returns how many were filled in. Valid until
    // the next call of append() or consume().
    size_t pieces(iovec* into, size_t pieces_max) const;

    // Drops the first `count` bytes.
    void consume(size_t count);

    // Copies the first bytes, `bytes_max` at the most; returns how many.
    size_t copy_to(char* into, size_t bytes_max) const;

    void clear() {
        if (first_) clear_blocks();
    }

  private:
    struct Block {
        Block* next = nullptr;
        size_t begin = 0;
        size_t end = 0;
        size_t capacity = 0;
        char* data() { return reinterpret_cast<char*>(this + 1); }
    };

    static Block* make_block(size_t capacity);
    void add_block(size_t capacity);
    void drop_first();
    void clear_blocks();

    // A list by hand: an idle connection holds an empty queue, which must cost two pointers and no
    // allocation.
    Block* first_ = nullptr;
    Block* last_ = nullptr;
    size_t bytes_ = 0;

  public:
    SendQueue() = default;
    ~SendQueue() { clear(); }
    SendQueue(const SendQueue&) = delete;
    SendQueue& operator=(const SendQueue&) = delete;
};

}  // namespace millrace::net
