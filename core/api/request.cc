#include "millrace/request.h"

#include "core/server/request_record.h"
#include "core/server/server.h"

namespace millrace {

std::string_view Request::method() const { return record_->head.method; }
std::string_view Request::target() const { return record_->head.target; }
std::string_view Request::path() const { return record_->head.path; }
std::string_view Request::query() const { return record_->head.query; }
bool Request::has_query() const { return record_->head.has_query; }

std::optional<std::string_view> Request::header(std::string_view name) const {
    const std::string_view* value = http::find_field(record_->head.fields, name);
    return value ? std::optional{*value} : std::nullopt;
}

std::span<const Field> Request::fields() const { return record_->head.fields; }

std::optional<std::string_view> Request::parameter(size_t index) const {
    if (index >= record_->parameters.size()) return {};
    return record_->parameters[index];
}

std::optional<std::string_view> Request::parameter(std::string_view name) const {
    const auto names = record_->server->routes().parameter_names(record_->route);
    for (size_t index = std::min(names.size(), record_->parameters.size()); index-- > 0;)
        if (names[index] == name) return record_->parameters[index];
    return {};
}

int Request::minor_version() const { return record_->head.minor_version; }

bool Request::has_body() const {
    const http::RequestHead& head = record_->head;
    return head.body == http::BodyKind::chunked ||
           (head.body == http::BodyKind::length && head.content_length > 0);
}

std::optional<uint64_t> Request::content_length() const {
    if (record_->head.body != http::BodyKind::length) return {};
    return record_->head.content_length;
}

void Request::yield(bool on) { record_->is_yielding = on; }
bool Request::is_yielding() const { return record_->is_yielding; }

}  // namespace millrace
