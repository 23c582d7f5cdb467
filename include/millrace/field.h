// One field line of a message head.
#pragma once

#include <string_view>

namespace millrace {

// The name is as received: compare it without case. The value has no leading or trailing SP or
// HTAB; bytes of 0x80 and above are kept. The views live as long as the message that they came
// from.
struct Field {
    std::string_view name;
    std::string_view value;
};

}  // namespace millrace
