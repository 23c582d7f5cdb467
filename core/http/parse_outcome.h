// What a head or a body comes to, however its bytes arrive. For the tests of this room.
#pragma once

#include "core/http/body_framing.h"
#include "core/http/head_parser.h"

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace millrace::http {

// Everything that parse_head() says, as values.
struct HeadOutcome {
    Verdict verdict = Verdict::need_more;
    HttpError error = HttpError::none;
    size_t consumed_bytes = 0;
    std::string method, target, path, query, authority;
    std::vector<std::pair<std::string, std::string>> fields;
    uint64_t content_length = 0;
    Method method_id = Method::other;
    TargetForm form = TargetForm::origin;
    BodyKind body = BodyKind::none;
    unsigned minor_version = 1;
    bool has_query = false;
    bool keep_alive = true;
    bool expects_continue = false;
    bool upgrade = false;

    bool operator==(const HeadOutcome&) const = default;
};

std::ostream& operator<<(std::ostream& out, const HeadOutcome& outcome);

// Feeds `wire` in every way. Fails the test if a verdict, once fallen, does not stand when more
// bytes come, or is not the same on every way.
HeadOutcome head_of(std::string_view wire, const HttpLimits& limits = {});

// What BodyDecoder says of a whole body.
struct BodyOutcome {
    Verdict verdict = Verdict::need_more;
    HttpError error = HttpError::none;
    size_t consumed_bytes = 0;
    std::string data;

    bool operator==(const BodyOutcome&) const = default;
};

std::ostream& operator<<(std::ostream& out, const BodyOutcome& outcome);

// Feeds `wire` in every way behind `head`. Fails the test if the ways differ.
BodyOutcome body_of(const RequestHead& head, std::string_view wire, const HttpLimits& limits = {});
BodyOutcome chunked_body_of(std::string_view wire, const HttpLimits& limits = {});
BodyOutcome sized_body_of(uint64_t length, std::string_view wire);

}  // namespace millrace::http
