// A complete HTTP/1.1 response parser for checking a server: it reads the response of one request
// from bytes that come in any pieces, and compares the status and the body with what was expected.
//
// It serves the first response and those that do not equal the learned template, so it favours
// strictness over speed.
#pragma once

#include "bench/load/error_kind.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::load {

// What a correct response looks like.
struct Expectation {
    int status = 200;
    std::optional<std::string> body = std::nullopt;          // exact bytes
    std::optional<uint64_t> body_size_bytes = std::nullopt;  // used only when `body` is not given
    bool answers_head = false;  // responses to HEAD carry no body (RFC 9110 section 9.3.2)
};

enum class ParseVerdict : uint8_t { need_more, complete, rejected };

struct ParseStep {
    ParseVerdict verdict = ParseVerdict::need_more;
    size_t consumed_bytes = 0;
    ErrorKind error = ErrorKind::none;  // set when rejected
};

class ResponseParser {
  public:
    static constexpr size_t head_bytes_max = 64 * 1024;

    // `expected` must outlive the parser.
    explicit ResponseParser(const Expectation& expected) : expected_(&expected) {}

    // Forgets the previous response. With `keep` the raw bytes and the body are stored.
    enum class Keep : uint8_t { nothing, bytes };
    void begin(Keep keep = Keep::nothing);

    // True between begin() and the first byte.
    bool untouched() const { return untouched_; }

    // Reads on from where the last call stopped. After complete or rejected, begin() must come
    // next.
    ParseStep feed(std::string_view bytes);

    int status() const { return status_; }
    bool closes() const { return closes_; }
    const std::string& raw() const { return raw_; }    // all bytes, interim responses included
    const std::string& body() const { return body_; }  // content without chunk framing
    // Where the 29 bytes of the Date field's value lie in raw(), if there is one.
    std::optional<size_t> date_offset() const { return date_offset_; }

  private:
    enum class State : uint8_t {
        head,
        sized,
        chunk_size,
        chunk_data,
        chunk_end,
        trailer,
        done,
        failed
    };

    bool take_head(std::string_view& rest);
    bool take_sized(std::string_view& rest);
    bool take_line(std::string_view& rest);
    bool take_chunk_data(std::string_view& rest);
    bool on_head();
    bool on_status_line(std::string_view line);
    bool on_field(std::string_view line);
    bool on_framing();
    bool on_chunk_size(std::string_view line);
    bool finish();
    void on_content(std::string_view content);
    bool reject(ErrorKind kind);

    const Expectation* expected_;
    State state_ = State::head;
    Keep keep_ = Keep::nothing;
    bool untouched_ = true;
    bool closes_ = false;
    bool chunked_ = false;
    bool body_differs_ = false;
    int status_ = 0;
    std::optional<uint64_t> length_;
    uint64_t left_bytes_ = 0;  // of the sized body or of the chunk
    uint64_t body_bytes_ = 0;
    size_t interim_bytes_ = 0;
    ErrorKind error_ = ErrorKind::none;
    std::string head_;  // the head so far
    std::string line_;  // a chunk-size or trailer line so far
    std::string raw_;
    std::string body_;
    std::optional<size_t> date_offset_;
};

}  // namespace millrace::load
