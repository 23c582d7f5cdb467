#include "core/net/send_queue.h"

#include "core/base/assert.h"

#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace millrace::net {

void SendQueue::append(std::string_view bytes) {
    while (!bytes.empty()) {
        if (!last_ || last_->end == last_->capacity) add_block(std::max(block_bytes, bytes.size()));
        const size_t count = std::min(bytes.size(), last_->capacity - last_->end);
        std::memcpy(last_->data() + last_->end, bytes.data(), count);
        last_->end += count;
        bytes_ += count;
        bytes.remove_prefix(count);
    }
}

void SendQueue::prepend(std::string_view bytes) {
    if (bytes.empty()) return;
    Block* const block = make_block(bytes.size());
    std::memcpy(block->data(), bytes.data(), bytes.size());
    block->end = bytes.size();
    block->next = first_;
    first_ = block;
    if (!last_) last_ = block;
    bytes_ += bytes.size();
}

SendQueue::Block* SendQueue::make_block(size_t capacity) {
    void* memory = ::operator new(sizeof(Block) + capacity);
    auto* block = new (memory) Block;
    block->capacity = capacity;
    return block;
}

void SendQueue::add_block(size_t capacity) {
    Block* const block = make_block(capacity);
    (last_ ? last_->next : first_) = block;
    last_ = block;
}

size_t SendQueue::pieces(iovec* into, size_t pieces_max) const {
    size_t count = 0;
    for (Block* block = first_; block && count < pieces_max; block = block->next)
        into[count++] = {block->data() + block->begin, block->end - block->begin};
    return count;
}

size_t SendQueue::copy_to(char* into, size_t bytes_max) const {
    size_t copied = 0;
    for (Block* block = first_; block && copied < bytes_max; block = block->next) {
        const size_t count = std::min(block->end - block->begin, bytes_max - copied);
        std::memcpy(into + copied, block->data() + block->begin, count);
        copied += count;
    }
    return copied;
}

void SendQueue::consume(size_t count) {
    MR_ASSERT(count <= bytes_);
    bytes_ -= count;
    while (first_) {
        const size_t here = std::min(count, first_->end - first_->begin);
        first_->begin += here;
        count -= here;
        if (first_->begin < first_->end) break;
        drop_first();
    }
}

void SendQueue::drop_first() {
    Block* block = first_;
    first_ = block->next;
    if (!first_) last_ = nullptr;
    block->~Block();
    ::operator delete(block);
}

void SendQueue::clear_blocks() {
    while (first_)
        drop_first();
    bytes_ = 0;
}

}  // namespace millrace::net
