// host [ ":" port ], as the Host field and request targets carry it. RFC 9110 section 7.2, RFC 3986
// section 3.2.
#pragma once

#include "core/base/bytes.h"

namespace millrace::http {

enum class PortRule : uint8_t {
    optional,  // may be absent or empty
    required,  // RFC 9112 section 3.2.3
};

// True for a host of at least one byte (a name, an IPv4 address or an IPv6 address in brackets) and
// a port of 0 to 65535. User information is refused (RFC 9110 section 4.2.4), and so is the ','
// that RFC 3986 allows in names: it would let two joined Host values pass as one.
bool is_authority(PaddedBytes text, PortRule port_rule);

}  // namespace millrace::http
