// Request methods that routing and framing know by number. RFC 9110 section 9.
#pragma once

#include <cstdint>
#include <string_view>

namespace millrace::http {

enum class Method : uint8_t { get, head, post, put, del, connect, options, trace, patch, other };

// Method of a token; methods are case-sensitive (RFC 9110 section 9.1).
Method method_of(std::string_view token);

// Token of a method; empty for Method::other.
std::string_view token_of(Method method);

}  // namespace millrace::http
