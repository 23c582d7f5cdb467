// What a server calls. core/api adapts the public handlers to it.
#pragma once

#include <cstdint>
#include <string_view>

namespace millrace::server {

class Exchange;
struct RequestRecord;

struct BodyPart {
    std::string_view data;
    bool is_last = false;
    uint64_t remaining_bytes = 0;
};

enum class BodyUse : uint8_t { taken, hold };

class Handler {
  public:
    virtual void on_request(Exchange& exchange, RequestRecord& request) = 0;
    virtual BodyUse on_body(Exchange& exchange, const BodyPart& part) = 0;
    virtual void on_aborted(Exchange& exchange) = 0;
    virtual void on_writable(Exchange& exchange) = 0;

  protected:
    ~Handler() = default;
};

}  // namespace millrace::server
