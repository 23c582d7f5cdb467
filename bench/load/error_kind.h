// What can go wrong with a request. Each kind is counted apart and each must be zero in a valid
// run.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace millrace::load {

enum class ErrorKind : uint8_t {
    none,
    connect,     // the connection could not be made
    read,        // a system error while reading
    write,       // a system error while writing
    disconnect,  // the peer closed a connection that it should have kept
    timeout,     // no complete response within the request timeout
    protocol,    // the bytes are not an HTTP/1.1 response, or one that nobody asked for
    status,      // a well-formed response with another status code
    body,        // a well-formed response with another body
};

inline constexpr std::array<std::string_view, 9> error_names{
    "none", "connect", "read", "write", "disconnect", "timeout", "protocol", "status", "body"};

class ErrorCounts {
  public:
    void add(ErrorKind kind, uint64_t count = 1) { counts_[static_cast<size_t>(kind)] += count; }
    uint64_t of(ErrorKind kind) const { return counts_[static_cast<size_t>(kind)]; }
    uint64_t total() const {
        return std::accumulate(counts_.begin() + 1, counts_.end(), uint64_t{0});
    }

  private:
    std::array<uint64_t, error_names.size()> counts_{};
};

}  // namespace millrace::load
