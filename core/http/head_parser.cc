#include "core/http/head_parser.h"

#include "core/http/authority.h"
#include "core/http/field_rules.h"
#include "core/http/text_kernels.h"

#include <algorithm>

namespace millrace::http {
namespace {

// Every step below takes bytes at a cursor and returns false where parsing has to stop: with an
// error, or, if there is none, because the bytes end. A verdict only ever depends on bytes before
// the cursor and the one that breaks a rule, so a prefix is never judged otherwise than the whole.
struct Cursor {
    const char* at;
    const char* end;  // followed by scan_padding_bytes of readable memory
    HttpError error = HttpError::none;

    size_t left() const { return static_cast<size_t>(end - at); }
    PaddedBytes rest() const { return PaddedBytes::promise(at, left()); }

    bool fail(HttpError reason) {
        error = reason;
        return false;
    }
};

constexpr size_t method_bytes_max = 64;
constexpr std::string_view newest_version = "HTTP/1.1";

bool is_whitespace(char byte) { return byte == ' ' || byte == '\t'; }

inline bool is_line_end(const char* at) {
    return load_word<uint16_t>(at) == load_word<uint16_t>("\r\n");
}

// RFC 9112 section 2.2: CR LF only. A lone LF or CR is where parsers disagree, so it ends parsing.
inline bool take_line_end(Cursor& cursor) {
    if (cursor.left() >= 2 && is_line_end(cursor.at)) {
        cursor.at += 2;
        return true;
    }
    if (cursor.left() == 0) return false;
    if (*cursor.at != '\r') return cursor.fail(HttpError::bad_line_ending);
    return cursor.left() == 1 ? false : cursor.fail(HttpError::bad_line_ending);
}

// RFC 9112 section 2.2: empty lines before the request line are ignored.
inline bool skip_empty_lines(Cursor& cursor) {
    while (cursor.left() != 0 && *cursor.at == '\r') {
        if (!take_line_end(cursor)) return false;
    }
    return cursor.left() != 0;
}

bool take_method(Cursor& cursor, RequestHead& head) {
    const size_t length = std::min(find_token_end(cursor.rest()), cursor.left());
    if (length > method_bytes_max) return cursor.fail(HttpError::bad_method);
    const char* const stop = cursor.at + length;
    if (stop == cursor.end) return false;
    if (*stop == '\n') return cursor.fail(HttpError::bad_line_ending);
    if (*stop == '\r') return cursor.fail(HttpError::bad_request_line);
    if (*stop != ' ') return cursor.fail(HttpError::bad_method);
    if (length == 0) return cursor.fail(HttpError::bad_request_line);
    head.method = {cursor.at, length};
    head.method_id = method_of(head.method);
    cursor.at = stop + 1;
    return true;
}

// RFC 9112 section 3.2.2. The scheme decides where the authority begins; 0 if neither fits.
size_t scheme_bytes(std::string_view target) {
    constexpr std::string_view plain = "http://";
    constexpr std::string_view secure = "https://";
    const auto begins_with = [&](std::string_view scheme) {
        const size_t seen = std::min(scheme.size(), target.size());
        return std::equal(
            scheme.begin(), scheme.begin() + seen, target.begin(), [](char expected, char byte) {
                // No control and no letter but the upper-case one folds onto these.
                return expected == (has_class(byte, token_class) ? byte | 0x20 : byte);
            });
    };
    if (begins_with(plain)) return plain.size();
    return begins_with(secure) ? secure.size() : 0;
}

// False if no continuation could make the target valid: known before its end is seen.
bool may_begin_target(std::string_view seen, Method method) {
    if (seen.empty()) return true;
    if (method == Method::connect)
        return seen[0] == '[' || has_class(seen[0], host_class) || seen[0] == '%';
    if (seen[0] == '/') return true;
    if (seen[0] == '*') return method == Method::options && seen.size() == 1;
    return scheme_bytes(seen) != 0;
}

bool split_absolute(TargetScan scan, RequestHead& head) {
    const std::string_view target = head.target;
    const size_t begin = scheme_bytes(target);
    if (target.size() <= begin) return false;
    const size_t end = std::min(target.find('/', begin), scan.query_mark);
    head.authority = target.substr(begin, end - begin);
    if (!is_authority(PaddedBytes::promise(head.authority.data(), head.authority.size()),
                      PortRule::optional)) {
        return false;
    }
    head.form = TargetForm::absolute;
    head.path = end == scan.query_mark ? "/" : target.substr(end, scan.query_mark - end);
    return true;
}

// Sorts a whole target that is not in origin form.
bool split_uncommon_target(TargetScan scan, RequestHead& head) {
    head.path = head.target;
    if (head.method_id == Method::connect) {
        head.form = TargetForm::authority;
        head.has_query = false;
        head.query = {};
        return is_authority(PaddedBytes::promise(head.target.data(), head.target.size()),
                            PortRule::required);
    }
    if (head.target == "*") {
        head.form = TargetForm::asterisk;
        return true;
    }
    return split_absolute(scan, head);
}

bool fail_target(Cursor& cursor, char stop, size_t length) {
    if (stop == '\n') return cursor.fail(HttpError::bad_line_ending);
    if (stop == '\r' || (stop == ' ' && length == 0)) {
        return cursor.fail(HttpError::bad_request_line);
    }
    return cursor.fail(HttpError::bad_target);
}

inline void set_origin_target(const char* begin, TargetScan scan, RequestHead& head) {
    head.target = {begin, scan.end};
    head.path = {begin, scan.query_mark};
    head.form = TargetForm::origin;
    head.has_query = scan.query_mark != scan.end;
    // An empty query may point anywhere inside.
    const size_t query_begin = scan.query_mark + (head.has_query ? 1 : 0);
    head.query = {begin + query_begin, scan.end - query_begin};
}

// RFC 9112 section 3.2, and exactly one SP behind.
bool take_target(Cursor& cursor, RequestHead& head) {
    const TargetScan scan = scan_target(cursor.rest());
    const char* const begin = cursor.at;
    const char* const stop = begin + scan.end;
    const std::string_view seen{begin, std::min(scan.end, cursor.left())};
    if (!may_begin_target(seen, head.method_id)) return cursor.fail(HttpError::bad_target);
    if (stop >= cursor.end) return false;
    if (*stop != ' ' || scan.end == 0) return fail_target(cursor, *stop, scan.end);
    set_origin_target(begin, scan, head);
    const bool is_origin = *begin == '/' && head.method_id != Method::connect;
    if (!is_origin && !split_uncommon_target(scan, head)) return cursor.fail(HttpError::bad_target);
    cursor.at = stop + 1;
    return true;
}

// RFC 9112 section 2.3; RFC 9110 section 2.5 has a higher minor version treated as the highest
// known.
bool take_version(Cursor& cursor, RequestHead& head) {
    constexpr size_t major_at = 5;
    constexpr size_t minor_at = 7;
    const size_t seen = std::min(cursor.left(), newest_version.size());
    for (size_t index = 0; index < seen; ++index) {
        const char byte = cursor.at[index];
        const bool is_number = index == major_at || index == minor_at;
        if (is_number ? has_class(byte, digit_class) : byte == newest_version[index]) continue;
        return cursor.fail(byte == '\n' ? HttpError::bad_line_ending : HttpError::bad_version);
    }
    if (seen < newest_version.size()) return false;
    if (cursor.at[major_at] != '1') return cursor.fail(HttpError::version_not_supported);
    head.minor_version = cursor.at[minor_at] == '0' ? 0 : 1;
    cursor.at += newest_version.size();
    if (cursor.left() != 0 && *cursor.at != '\r' && *cursor.at != '\n') {
        return cursor.fail(HttpError::bad_version);
    }
    return take_line_end(cursor);
}

// A line of the shape nearly all have: GET, origin form, HTTP/1.1. Takes nothing and judges nothing
// if it is not of that shape or not whole.
inline bool take_common_line(Cursor& cursor, RequestHead& head) {
    constexpr std::string_view begin = "GET /";
    constexpr std::string_view end = " HTTP/1.1\r\n";
    constexpr size_t target_at = begin.size() - 1;
    if (cursor.left() < begin.size() + end.size()) return false;
    if (load_word<uint32_t>(cursor.at) != load_word<uint32_t>(begin.data())) return false;
    const char* const target = cursor.at + target_at;
    if (*target != '/') return false;
    const TargetScan scan = scan_target(cursor.rest().from(target_at));
    const char* const stop = target + scan.end;
    if (stop + end.size() > cursor.end) return false;
    if (load_word<uint64_t>(stop) != load_word<uint64_t>(end.data())) return false;
    constexpr size_t last = end.size() - sizeof(uint32_t);
    if (load_word<uint32_t>(stop + last) != load_word<uint32_t>(end.data() + last)) return false;
    head.method = {cursor.at, target_at - 1};
    head.method_id = Method::get;
    head.minor_version = 1;
    set_origin_target(target, scan, head);
    cursor.at = stop + end.size();
    return true;
}

bool take_uncommon_line(Cursor& cursor, RequestHead& head) {
    return take_method(cursor, head) && take_target(cursor, head) && take_version(cursor, head);
}

bool fail_empty_name(Cursor& cursor, char stop, size_t fields_before) {
    if (stop == '\n') return cursor.fail(HttpError::bad_line_ending);
    // RFC 9112 section 5.2. Before the first field there is nothing to fold: section 2.2.
    const bool is_folding = is_whitespace(stop) && fields_before != 0;
    return cursor.fail(is_folding ? HttpError::obsolete_folding : HttpError::bad_field_name);
}

bool fail_value(Cursor& cursor, const char* stop) {
    if (stop >= cursor.end) return false;
    if (*stop != '\r' && *stop != '\n') return cursor.fail(HttpError::bad_field_value);
    cursor.at = stop;
    return take_line_end(cursor);
}

// Whitespace or a control: what a value rarely begins or ends with.
bool is_low(char byte) { return static_cast<uint8_t>(byte) <= ' '; }

const char* skip_whitespace(const char* begin, const char* end) {
    while (begin < end && is_whitespace(*begin)) {
        ++begin;
    }
    return begin;
}

const char* drop_whitespace(const char* begin, const char* end) {
    while (end != begin && is_whitespace(end[-1])) {
        --end;
    }
    return end;
}

// A line of the shape nearly all have: a short name of letters and '-', one SP or none, a value
// that begins and ends visibly. Takes nothing and judges nothing if it is not of that shape or not
// whole. The end is looked for from the start of the line, so that the next line does not have to
// wait until the name's end is known.
inline bool take_common_field(Cursor& cursor, Field& field) {
    // Reads behind the end stay inside the padding: a name at the end, and a value not yet begun.
    static_assert(scan_padding_bytes >= common_name_bytes_max + 2);
    const char* const stop = cursor.at + find_value_end(cursor.rest());
    const size_t length = common_name_bytes(cursor.at);
    if (stop + 2 > cursor.end || length == 0 || cursor.at[length] != ':') return false;
    // Neither the name nor the ':' is a control, so `stop` lies behind them.
    const char* begin = cursor.at + length + 1;
    begin += *begin == ' ';
    if (is_low(*begin) || !is_line_end(stop) || is_low(stop[-1])) return false;
    field.name = {cursor.at, length};
    field.value = {begin, static_cast<size_t>(stop - begin)};
    cursor.at = stop + 2;
    return true;
}

// RFC 9112 section 5: the ':' and the value, up to and with the line end.
bool take_value(Cursor& cursor, Field& field) {
    const char* const begin = skip_whitespace(cursor.at + 1, cursor.end);
    if (begin == cursor.end) return false;
    const size_t left = static_cast<size_t>(cursor.end - begin);
    const char* const stop = begin + find_value_end(PaddedBytes::promise(begin, left));
    if (stop + 2 > cursor.end || !is_line_end(stop)) return fail_value(cursor, stop);
    const char* const end = drop_whitespace(begin, stop);
    field.value = {begin, static_cast<size_t>(end - begin)};
    cursor.at = stop + 2;
    return true;
}

// RFC 9112 section 5: any field line.
bool take_uncommon_field(Cursor& cursor, std::span<Field> storage, size_t fields_before) {
    if (cursor.left() == 0) return false;
    const size_t length = find_token_end(cursor.rest());
    const char* const stop = cursor.at + length;
    if (length == 0) return fail_empty_name(cursor, *stop, fields_before);
    if (fields_before == storage.size()) return cursor.fail(HttpError::too_many_fields);
    if (stop >= cursor.end) return false;
    if (*stop != ':') {
        return cursor.fail(*stop == '\n' ? HttpError::bad_line_ending : HttpError::bad_field_name);
    }
    Field& field = storage[fields_before];
    field.name = {cursor.at, length};
    cursor.at = stop;
    return take_value(cursor, field);
}

inline bool take_fields(Cursor& cursor, std::span<Field> storage, RequestHead& head,
                        FieldFacts& facts) {
    size_t count = 0;
    while (true) {
        if (count == storage.size() || !take_common_field(cursor, storage[count])) {
            if (cursor.left() != 0 && *cursor.at == '\r') break;
            if (!take_uncommon_field(cursor, storage, count)) return false;
        }
        const HttpError error = note_field(storage[count], head, facts);
        if (error != HttpError::none) return cursor.fail(error);
        ++count;
    }
    head.fields = storage.first(count);
    return take_line_end(cursor);
}

enum class Place : uint8_t { empty_lines, request_line, fields, behind };

// Returns where parsing stopped.
inline Place take_head(Cursor& cursor, std::span<Field> storage, RequestHead& head,
                       FieldFacts& facts) {
    if (!take_common_line(cursor, head)) {
        if (!skip_empty_lines(cursor)) return Place::empty_lines;
        if (!take_uncommon_line(cursor, head)) return Place::request_line;
    }
    return take_fields(cursor, storage, head, facts) ? Place::behind : Place::fields;
}

HeadStep stop_at(Place place, const Cursor& cursor, const char* limit) {
    if (cursor.error != HttpError::none) return {Verdict::rejected, 0, cursor.error};
    if (cursor.end != limit) return {Verdict::need_more, 0, HttpError::none};
    // All that the limit allows has been seen, and the head is not whole.
    const bool is_long_line = place == Place::request_line;
    return {Verdict::rejected, 0,
            is_long_line ? HttpError::target_too_long : HttpError::head_too_large};
}

}  // namespace

HeadStep parse_head(PaddedBytes received, const HttpLimits& limits, std::span<Field> storage,
                    RequestHead& head) {
    MR_ASSERT(storage.size() >= limits.fields_max);
    // Bytes behind the limit are not looked at, so the limit acts alike on every split.
    const size_t seen = std::min<size_t>(received.size(), limits.head_bytes_max);
    Cursor cursor{received.data(), received.data() + seen};
    FieldFacts facts;
    const auto fields = storage.first(std::min<size_t>(storage.size(), limits.fields_max));
    const Place place = take_head(cursor, fields, head, facts);
    if (place != Place::behind) {
        return stop_at(place, cursor, received.data() + limits.head_bytes_max);
    }
    const HttpError error = apply_facts(facts, head);
    if (error != HttpError::none) return {Verdict::rejected, 0, error};
    return {Verdict::complete, static_cast<uint32_t>(cursor.at - received.data()), HttpError::none};
}

const std::string_view* find_field(std::span<const Field> fields, std::string_view name) {
    for (const Field& field : fields) {
        if (equals_any_case(field.name, name)) return &field.value;
    }
    return nullptr;
}

}  // namespace millrace::http
