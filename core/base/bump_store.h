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
        if (static_cast<size_t>(end_ - at_) < count) next_block(count);
        return {at_, count};
    }

    // Takes the first `count` objects of the last room().
    void take(size_t count) {
        MR_ASSERT(count <= static_cast<size_t>(end_ - at_));
        at_ += count;
    }

    void reset() {
        if (!blocks_.empty()) enter(0);
    }

    // A place to come back to, for objects that die sooner than the rest.
    struct Mark {
        size_t block = 0;
        T* at = nullptr;
    };
    Mark mark() const { return {block_, at_}; }
    void rewind(Mark mark) {
        if (mark.block == block_ && mark.at) {
            at_ = mark.at;
        } else if (!blocks_.empty()) {
            enter(mark.block);
            if (mark.at) at_ = mark.at;
        }
    }

  private:
    struct Block {
        std::unique_ptr<T[]> memory;
        size_t size;
    };

    void enter(size_t block) {
        block_ = block;
        at_ = blocks_[block].memory.get();
        end_ = at_ + blocks_[block].size;
    }

    void next_block(size_t count) {
        for (size_t block = block_ + 1; block < blocks_.size(); ++block) {
            enter(block);
            if (blocks_[block].size >= count) return;
        }
        const size_t size = std::max(block_size_, count);
        blocks_.push_back({std::make_unique_for_overwrite<T[]>(size), size});
        enter(blocks_.size() - 1);
    }

    size_t block_size_;
    std::vector<Block> blocks_;
    size_t block_ = 0;
    T* at_ = nullptr;  // in the current block: the first object that is not taken
    T* end_ = nullptr;
};

}  // namespace millrace
