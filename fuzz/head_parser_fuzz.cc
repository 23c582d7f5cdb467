// Heads: a prefix of the input is judged like the input or not at all, views lie inside the input,
// and what is accepted keeps the promises of the header. The first two bytes choose limits and a
// split.
#include "core/http/head_parser.h"
#include "core/testing/guard_page.h"
#include "fuzz/require.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace {

using millrace::HttpError;
using millrace::HttpLimits;
using millrace::PaddedBytes;
using millrace::Verdict;
using millrace::fuzz::require;
using namespace millrace::http;

constexpr size_t input_bytes_max = 4096;

struct Parsed {
    HeadStep step;
    RequestHead head;
    std::vector<Field> storage;
};

Parsed parse(PaddedBytes received, const HttpLimits& limits) {
    Parsed parsed;
    parsed.storage.resize(limits.fields_max);
    parsed.step = parse_head(received, limits, parsed.storage, parsed.head);
    return parsed;
}

bool is_inside(std::string_view view, std::string_view whole) {
    return view.empty() || (view.data() >= whole.data() &&
                            view.data() + view.size() <= whole.data() + whole.size());
}

bool is_visible(char byte) { return static_cast<unsigned char>(byte) > ' ' && byte != '\x7f'; }

void check_fields(const RequestHead& head, std::string_view bytes) {
    for (const Field& field : head.fields) {
        require(!field.name.empty() && is_inside(field.name, bytes), "name inside");
        require(std::all_of(field.name.begin(), field.name.end(), is_visible), "name is visible");
        require(field.name.find(':') == field.name.npos, "name has no colon");
        require(is_inside(field.value, bytes), "value inside");
        for (const char byte : field.value)
            require(is_visible(byte) || byte == ' ' || byte == '\t', "value has no controls");
        if (field.value.empty()) continue;
        require(is_visible(field.value.front()) && is_visible(field.value.back()), "value trimmed");
    }
}

void check_lengths(const RequestHead& head) {
    const auto* length = find_field(head.fields, "content-length");
    const auto* coding = find_field(head.fields, "Transfer-Encoding");
    require(!(length && coding), "not both lengths");
    require((head.body == BodyKind::length) == (length != nullptr), "length by its field");
    require((head.body == BodyKind::chunked) == (coding != nullptr), "chunked by its field");
    require(head.content_length < uint64_t{1} << 53, "length is exact");
    require(head.body == BodyKind::length || head.content_length == 0, "no stray length");
}

void check_accepted(const Parsed& parsed, std::string_view bytes, const HttpLimits& limits) {
    const RequestHead& head = parsed.head;
    const uint32_t consumed = parsed.step.consumed_bytes;
    require(consumed <= bytes.size() && consumed <= limits.head_bytes_max, "head within limits");
    require(head.fields.size() <= limits.fields_max, "fields within limits");
    const std::string_view own = bytes.substr(0, consumed);
    require(own.substr(own.size() - 4) == "\r\n\r\n", "head ends in an empty line");
    for (const auto view : {head.method, head.target, head.query, head.authority})
        require(is_inside(view, own), "view inside");
    require(head.path == "/" || is_inside(head.path, own), "path inside");
    require(!head.method.empty() && !head.path.empty(), "method and path");
    require(method_of(head.method) == head.method_id, "method id");
    require(std::all_of(head.target.begin(), head.target.end(), is_visible), "target is visible");
    require(head.query.empty() || head.has_query, "query only with a mark");
    require(head.minor_version == 0 || find_field(head.fields, "host"), "1.1 has a Host");
    check_fields(head, own);
    check_lengths(head);
}

HttpLimits limits_by(uint8_t choice) {
    HttpLimits limits;
    if (choice & 1) limits.head_bytes_max = 64 + (choice >> 2);
    if (choice & 2) limits.fields_max = 1 + (choice >> 6);
    return limits;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static millrace::testing::GuardedBuffer whole_memory{input_bytes_max + 64};
    static millrace::testing::GuardedBuffer part_memory{input_bytes_max + 64};
    if (size < 2 || size > input_bytes_max) return 0;
    const HttpLimits limits = limits_by(data[0]);
    const std::string_view text{reinterpret_cast<const char*>(data) + 2, size - 2};
    const PaddedBytes bytes = whole_memory.put_padded(text, "\r\n");
    const Parsed whole = parse(bytes, limits);
    if (whole.step.verdict == Verdict::complete) check_accepted(whole, bytes.text(), limits);
    require((whole.step.verdict == Verdict::rejected) == (whole.step.error != HttpError::none),
            "an error for each rejection");
    // A whole sweep is quadratic: every prefix of a short input, a spread of those of a long one.
    const size_t step = 1 + text.size() / 64;
    for (size_t end = data[1] % step; end < text.size(); end += step) {
        const PaddedBytes part = part_memory.put_padded(text.substr(0, end), text.substr(end));
        const HeadStep seen = parse(part, limits).step;
        if (seen.verdict == Verdict::need_more) {
            require(seen.consumed_bytes == 0, "need_more takes nothing");
            continue;
        }
        require(seen.verdict == whole.step.verdict, "a prefix has no verdict of its own");
        require(seen.error == whole.step.error, "a prefix has no error of its own");
        require(seen.consumed_bytes == whole.step.consumed_bytes, "a prefix takes the same");
    }
    return 0;
}
