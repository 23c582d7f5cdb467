// A request, as its handler sees it. RFC 9110, RFC 9112.
#pragma once

#include "millrace/field.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace millrace {

namespace server {
struct RequestRecord;
}

// Every view is valid until the handler returns (in batched delivery: until the end of the batch).
// Copy what is needed longer.
class Request {
  public:
    // Valid until the handler returns. As received; methods are case-sensitive.
    std::string_view method() const;

    // Valid until the handler returns. The request target as received.
    std::string_view target() const;

    // Valid until the handler returns. The path without the query, not decoded. "*" for OPTIONS *,
    // host:port for CONNECT.
    std::string_view path() const;

    // Valid until the handler returns. What stands behind the first '?', not decoded.
    std::string_view query() const;
    bool has_query() const;

    // Valid until the handler returns. The first value of a field; the name matches in any case.
    std::optional<std::string_view> header(std::string_view name) const;

    // Valid until the handler returns. All field lines in the order of the wire.
    std::span<const Field> fields() const;

    // Valid until the handler returns. Parameters of the route's pattern, not decoded, counted from
    // 0.
    std::optional<std::string_view> parameter(size_t index) const;
    // Valid until the handler returns. By name; of several parameters with the same name the last.
    std::optional<std::string_view> parameter(std::string_view name) const;

    // 0 for HTTP/1.0, else 1.
    int minor_version() const;

    // True if a body is to come.
    bool has_body() const;

    // Content-Length, if the request has one.
    std::optional<uint64_t> content_length() const;

    // Passes the request on: if the handler returns without having answered, the next matching
    // route is tried.
    void yield(bool on = true);
    bool is_yielding() const;

    // For the bodies of this API.
    explicit Request(server::RequestRecord& record) : record_(&record) {}
    server::RequestRecord& internals() const { return *record_; }

  private:
    server::RequestRecord* record_;
};

}  // namespace millrace
