// Errors of the public API: wrong calls by the program, never anything that a peer sent.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace millrace {

enum class ErrorCode : uint8_t {
    response_gone,          // the response is complete, or its connection is gone
    head_sent,              // status or fields after the head of the response was written
    bad_status,             // not "ddd" or "ddd reason", or an interim status
    bad_field_name,         // not a token
    bad_field_value,        // control bytes
    bad_transfer_encoding,  // the engine frames messages itself; only "chunked" may be asked for
    length_mismatch,        // more or fewer body bytes than were announced
    bad_pattern,            // an empty route pattern
    app_closed,             // the app has been closed
};

class Error : public std::runtime_error {
  public:
    Error(ErrorCode code, const std::string& what) : std::runtime_error(what), code_(code) {}
    ErrorCode code() const noexcept { return code_; }

  private:
    ErrorCode code_;
};

}  // namespace millrace
