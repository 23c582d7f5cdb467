// Many short-lived objects of one type that die together.
#pragma once

#include "core/base/assert.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace millrace {

// Hands out runs of T that stay where they are until reset(). T must be trivially destructible. The
// blocks are kept for reuse: memory grows to what one batch needed at its largest.
template <typename T>
class BumpStore {
    static_assert(std::is_trivially_destructible_v<T>);

  public:
    explicit BumpStore(size_t block_size) : block_size_(block_size) {}

    // Room for `count` objects, not yet taken. Valid until the next call of room() or reset().
    std::span<T> room(size_t count) {
        if (blocks_.empty() || blocks_[block_].size - used_ < count) next_block(count);
        return {blocks_[block_].memory.get() + used_, count};
    }

    // Takes the first `count` objects of the last room().
    void take(size_t count) {
        MR_ASSERT(count <= blocks_[block_].size - used_);
        used_ += count;
    }

    void reset() { block_ = used_ = 0; }

    // A place to come back to, for objects that die sooner than the rest.
    struct Mark {
        size_t block = 0;
        size_t used = 0;
    };
    Mark mark() const { return {block_, used_}; }
    void rewind(Mark mark) {
        block_ = mark.block;
        used_ = mark.used;
    }

  private:
    struct Block {
        std::unique_ptr<T[]> memory;
        size_t size;
    };

    void next_block(size_t count) {
        while (block_ + 1 < blocks_.size()) {
            ++block_;
            used_ = 0;
            if (blocks_[block_].size >= count) return;
        }
        const size_t size = std::max(block_size_, count);
        blocks_.push_back({std::make_unique_for_overwrite<T[]>(size), size});
        block_ = blocks_.size() - 1;
        used_ = 0;
    }

    size_t block_size_;
    std::vector<Block> blocks_;
    size_t block_ = 0;
    size_t used_ = 0;
};

}  // namespace millrace
