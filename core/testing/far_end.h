// The client's end of a connection, on either transport. Results below zero are negated errnos.
#pragma once

#include "core/testing/memory_socket.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace millrace::testing {

class FarEnd {
  public:
    virtual ~FarEnd() = default;
    virtual int64_t send(std::string_view bytes) = 0;
    virtual int64_t receive(char* into, size_t bytes_max) = 0;
    virtual void finish() = 0;
    virtual void close() = 0;
    virtual void reset() = 0;
};

std::unique_ptr<FarEnd> memory_far_end(std::shared_ptr<MemoryStream> stream);

// nullptr if the connection is refused.
std::unique_ptr<FarEnd> loopback_far_end(uint16_t port, size_t buffer_bytes);
std::unique_ptr<FarEnd> loopback_far_end_unix(std::string_view path, size_t buffer_bytes);

}  // namespace millrace::testing
