#include "core/server/cork.h"

#include "core/base/assert.h"

namespace millrace::server {

Cork::Cork() : memory_(std::make_unique_for_overwrite<char[]>(capacity_bytes)) {}

char* Cork::begin(Connection& owner, Chain& chain, size_t bytes) {
    MR_ASSERT(has_room(bytes));
    static_cast<void>(bytes);
    const auto newest = static_cast<uint32_t>(segments_.size());
    // A chain that was written out begins anew, also right behind its old end.
    if (chain.is_empty() || segments_.back().owner != &owner) {
        const auto here = static_cast<uint32_t>(used_);
        segments_.push_back({&owner, here, here, no_segment});
        if (chain.is_empty())
            chain.first = newest;
        else
            segments_[chain.last].next = newest;
        chain.last = newest;
    }
    return memory_.get() + used_;
}

}  // namespace millrace::server
