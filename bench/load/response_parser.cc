#include "bench/load/response_parser.h"

#include <algorithm>
#include <charconv>

namespace millrace::load {
namespace {

constexpr size_t line_bytes_max = 8 * 1024;
constexpr size_t imf_fixdate_bytes = 29;

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view trim(std::string_view text) {
    const size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<uint64_t> to_number(std::string_view text, int base) {
    uint64_t value = 0;
    const auto [end, failure] =
        std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool is_token(std::string_view name) {
    const auto allowed = [](unsigned char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) !=
                   std::string_view::npos;
    };
    return !name.empty() && std::ranges::all_of(name, allowed);
}

}  // namespace

void ResponseParser::begin(Keep keep) {
    state_ = State::head;
    keep_ = keep;
    untouched_ = true;
    closes_ = chunked_ = body_differs_ = false;
    status_ = 0;
    length_.reset();
    left_bytes_ = body_bytes_ = 0;
    interim_bytes_ = 0;
    error_ = ErrorKind::none;
    head_.clear();
    line_.clear();
    raw_.clear();
    body_.clear();
    date_offset_.reset();
}

ParseStep ResponseParser::feed(std::string_view bytes) {
    std::string_view rest = bytes;
    if (!bytes.empty()) untouched_ = false;
    bool more = true;
    while (more && !rest.empty() && state_ != State::done && state_ != State::failed) {
        switch (state_) {
            case State::head:
                more = take_head(rest);
                break;
            case State::sized:
                more = take_sized(rest);
                break;
            case State::chunk_data:
                more = take_chunk_data(rest);
                break;
            default:
                more = take_line(rest);
                break;
        }
    }
    const size_t consumed = bytes.size() - rest.size();
    if (keep_ == Keep::bytes) raw_.append(bytes.substr(0, consumed));
    if (state_ == State::failed) return {ParseVerdict::rejected, consumed, error_};
    if (state_ == State::done) return {ParseVerdict::complete, consumed, ErrorKind::none};
    return {ParseVerdict::need_more, consumed, ErrorKind::none};
}

bool ResponseParser::take_head(std::string_view& rest) {
    const size_t scanned = head_.size() < 3 ? 0 : head_.size() - 3;
    const size_t before = head_.size();
    head_.append(rest.substr(0, head_bytes_max + 1 - before));
    const size_t end = head_.find("\r\n\r\n", scanned);
    if (end == std::string::npos) {
        if (head_.size() > head_bytes_max) return reject(ErrorKind::protocol);
        rest = {};
        return false;
    }
    head_.resize(end + 4);
    rest.remove_prefix(head_.size() - before);
    return on_head();
}

bool ResponseParser::on_head() {
    std::string_view head = std::string_view(head_).substr(0, head_.size() - 2);
    size_t end = head.find("\r\n");
    if (!on_status_line(head.substr(0, end))) return reject(ErrorKind::protocol);
    for (head.remove_prefix(end + 2); !head.empty(); head.remove_prefix(end + 2)) {
        end = head.find("\r\n");
        if (!on_field(head.substr(0, end))) return reject(ErrorKind::protocol);
    }
    return on_framing();
}

bool ResponseParser::on_status_line(std::string_view line) {
    if (line.size() < 13 || !line.starts_with("HTTP/1.") || line[8] != ' ' || line[12] != ' ') {
        return false;
    }
    if (line[7] != '0' && line[7] != '1') return false;
    const auto code = to_number(line.substr(9, 3), 10);
    if (!code || *code < 100) return false;
    status_ = static_cast<int>(*code);
    return true;
}

bool ResponseParser::on_field(std::string_view line) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return false;
    if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) return false;
    const auto name = line.substr(0, colon);
    const auto value = trim(line.substr(colon + 1));
    if (equal_ignoring_case(name, "content-length")) {
        const auto length = to_number(value, 10);
        if (!length || (length_ && *length_ != *length)) return false;
        length_ = length;
    } else if (equal_ignoring_case(name, "transfer-encoding")) {
        if (chunked_ || !equal_ignoring_case(value, "chunked")) return false;
        chunked_ = true;
    } else if (equal_ignoring_case(name, "connection")) {
        closes_ = closes_ || equal_ignoring_case(value, "close");
    } else if (equal_ignoring_case(name, "date") && value.size() == imf_fixdate_bytes) {
        date_offset_ = interim_bytes_ + static_cast<size_t>(value.data() - head_.data());
    }
    return true;
}

// RFC 9112 section 6.3.
bool ResponseParser::on_framing() {
    if (chunked_ && length_) return reject(ErrorKind::protocol);
    if (status_ == 101) return reject(ErrorKind::protocol);  // nobody asked for an upgrade
    if (status_ < 200) {
        const size_t interim_bytes = interim_bytes_ + head_.size();
        head_.clear();
        length_.reset();
        chunked_ = false;
        date_offset_.reset();
        interim_bytes_ = interim_bytes;
        return true;
    }
    if (expected_->answers_head || status_ == 204 || status_ == 304) return finish();
    if (chunked_) {
        state_ = State::chunk_size;
        return true;
    }
    // A body that ends with the connection cannot be part of a keep-alive run.
    if (!length_) return reject(ErrorKind::protocol);
    if (*length_ == 0) return finish();
    left_bytes_ = *length_;
    state_ = State::sized;
    return true;
}

bool ResponseParser::take_sized(std::string_view& rest) {
    const auto taken = rest.substr(0, std::min<uint64_t>(left_bytes_, rest.size()));
    on_content(taken);
    rest.remove_prefix(taken.size());
    left_bytes_ -= taken.size();
    return left_bytes_ != 0 || finish();
}

bool ResponseParser::take_chunk_data(std::string_view& rest) {
    const auto taken = rest.substr(0, std::min<uint64_t>(left_bytes_, rest.size()));
    on_content(taken);
    rest.remove_prefix(taken.size());
    left_bytes_ -= taken.size();
    if (left_bytes_ == 0) state_ = State::chunk_end;
    return true;
}

bool ResponseParser::take_line(std::string_view& rest) {
    const size_t end = rest.find('\n');
    const auto part = rest.substr(0, end == std::string_view::npos ? end : end + 1);
    if (line_.size() + part.size() > line_bytes_max) return reject(ErrorKind::protocol);
    line_.append(part);
    rest.remove_prefix(part.size());
    if (end == std::string_view::npos) return false;
    if (!line_.ends_with("\r\n")) return reject(ErrorKind::protocol);
    const std::string text = line_.substr(0, line_.size() - 2);
    line_.clear();
    if (state_ == State::chunk_size) return on_chunk_size(text);
    if (state_ == State::trailer) return text.empty() ? finish() : true;
    if (!text.empty()) return reject(ErrorKind::protocol);  // CRLF after the chunk's data
    state_ = State::chunk_size;
    return true;
}

bool ResponseParser::on_chunk_size(std::string_view line) {
    const auto size = to_number(trim(line.substr(0, line.find(';'))), 16);
    if (!size) return reject(ErrorKind::protocol);
    left_bytes_ = *size;
    state_ = *size == 0 ? State::trailer : State::chunk_data;
    return true;
}

void ResponseParser::on_content(std::string_view content) {
    if (expected_->body) {
        const std::string_view wanted = *expected_->body;
        if (body_bytes_ > wanted.size() || wanted.substr(body_bytes_, content.size()) != content) {
            body_differs_ = true;
        }
    }
    body_bytes_ += content.size();
    if (keep_ == Keep::bytes) body_.append(content);
}

bool ResponseParser::finish() {
    if (status_ != expected_->status) return reject(ErrorKind::status);
    const bool has_content = !expected_->answers_head;
    if (has_content && expected_->body) {
        body_differs_ = body_differs_ || body_bytes_ != expected_->body->size();
    } else if (has_content && expected_->body_size_bytes) {
        body_differs_ = body_bytes_ != *expected_->body_size_bytes;
    }
    if (body_differs_) return reject(ErrorKind::body);
    state_ = State::done;
    return false;
}

bool ResponseParser::reject(ErrorKind kind) {
    error_ = kind;
    state_ = State::failed;
    return false;
}

}  // namespace millrace::load
