// What a protocol step says of the bytes it was given. There is no fourth outcome.
#pragma once

#include <cstdint>

namespace millrace {

enum class Verdict : uint8_t {
    need_more,  // all is well so far; call again with more bytes
    complete,   // the unit is whole
    rejected,   // the bytes break the protocol or a limit
};

}  // namespace millrace
