// What the head parser and the body decoder make of the bytes of one connection, as lines of text.
#pragma once

#include "core/base/bytes.h"
#include "core/http/body_framing.h"
#include "core/http/head_parser.h"
#include "millrace/limits.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace millrace::wire {

class EventLog {
  public:
    explicit EventLog(const HttpLimits& limits) : limits_(limits), storage_(limits.fields_max) {}

    // `received` is everything that has come so far. False once nothing more will be looked at.
    bool on_received(PaddedBytes received);

    // The peer has finished. Returns the log: see README.md for the lines.
    std::vector<std::string> finish(size_t wire_bytes);

  private:
    enum class Phase : uint8_t { head, body, over };

    bool take_head(PaddedBytes received);
    bool take_body(PaddedBytes received);
    void log_head(const http::RequestHead& head);
    void end_message();
    void reject(HttpError error);
    void flush_data();

    const HttpLimits limits_;
    std::vector<Field> storage_;
    http::BodyDecoder decoder_;
    Phase phase_ = Phase::head;
    size_t taken_bytes_ = 0;
    bool has_head_bytes_ = false;  // some of the next head
    bool keep_alive_ = true;
    bool is_rejected_ = false;
    std::string data_;  // of this body, joined: how it is cut into pieces depends on the reads
    std::vector<std::string> lines_;
};

}  // namespace millrace::wire
