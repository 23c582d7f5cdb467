// Every way in which the bytes of a message can arrive. What a parser makes of them must not
// differ.
//
//     feed_every_way(wire, [&](Feeder& feed) { EXPECT_EQ(events_of(feed), expected); });
#pragma once

#include "core/base/bytes.h"
#include "core/testing/guard_page.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::testing {

enum class Feeding : bool { stop, go_on };

// One way. Gives the bytes out at a guard page, so that a read too far is a crash.
class Feeder {
  public:
    // `ends` are the offsets at which a read ends, ascending; the last is the size of `wire`.
    Feeder(std::string_view wire, std::vector<size_t> ends, std::string name);

    // For parsers that see all bytes so far: calls `take` after each read with everything that has
    // come. The padding behind holds what comes next on the wire, or line ends if nothing does.
    // Returns stop if `take` did.
    Feeding feed_prefixes(const std::function<Feeding(PaddedBytes)>& take);

    // For parsers that keep their place: calls `take` with each read by itself. There is no
    // padding.
    Feeding feed_pieces(const std::function<Feeding(std::string_view)>& take);

    // The same with the padding of feed_prefixes().
    Feeding feed_padded_pieces(const std::function<Feeding(PaddedBytes)>& take);

    std::string_view wire() const { return wire_; }
    const std::string& name() const { return name_; }  // for messages: "whole", "split at 7", ...

  private:
    PaddedBytes put_padded(size_t begin, size_t end);

    std::string_view wire_;
    std::vector<size_t> ends_;
    std::string name_;
    GuardedBuffer memory_;
};

// Up to this size a message is split at every place and fed byte by byte; a longer one is split at
// evenly spread places and near both ends, and fed in pieces of an odd size.
inline constexpr size_t every_split_bytes_max = 2048;

// Calls `run` for `wire` whole, split in two at every place, and byte by byte.
void feed_every_way(std::string_view wire, const std::function<void(Feeder&)>& run);

}  // namespace millrace::testing
