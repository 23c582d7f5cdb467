#include "tests/wire/event_log.h"

#include "millrace/http_error.h"
#include "tests/wire/wire_case.h"

#include <utility>

namespace millrace::wire {

namespace {

// No line ends in a space, which editors drop.
std::string spaced(std::string_view bytes) { return bytes.empty() ? "" : " " + escaped(bytes); }

std::string request_line_of(const http::RequestHead& head) {
    return "request " + std::string{head.method} + " " + escaped(head.target) + " HTTP/1." +
           std::to_string(head.minor_version) + (head.keep_alive ? " keep-alive" : " close");
}

std::string target_line_of(const http::RequestHead& head) {
    switch (head.form) {
        case http::TargetForm::absolute:
            return "absolute-form " + escaped(head.authority) + " " + escaped(head.path);
        case http::TargetForm::authority:
            return "authority-form " + escaped(head.path);
        case http::TargetForm::asterisk:
            return "asterisk-form";
        case http::TargetForm::origin:
            break;
    }
    return "path " + escaped(head.path);
}

}  // namespace

bool EventLog::on_received(PaddedBytes received) {
    while (phase_ != Phase::over) {
        const bool goes_on = phase_ == Phase::head ? take_head(received) : take_body(received);
        if (!goes_on) break;
    }
    return phase_ != Phase::over;
}

// False if more bytes are needed.
bool EventLog::take_head(PaddedBytes received) {
    const PaddedBytes rest = received.from(taken_bytes_);
    has_head_bytes_ = !rest.empty();
    if (rest.empty()) return false;
    http::RequestHead head;
    const http::HeadStep step = http::parse_head(rest, limits_, storage_, head);
    if (step.verdict == Verdict::need_more) return false;
    if (step.verdict == Verdict::rejected) {
        reject(step.error);
        return false;
    }
    taken_bytes_ += step.consumed_bytes;
    log_head(head);
    decoder_ = {};
    decoder_.start(head);
    keep_alive_ = head.keep_alive;
    phase_ = Phase::body;
    if (decoder_.is_complete()) end_message();
    return true;
}

bool EventLog::take_body(PaddedBytes received) {
    const PaddedBytes rest = received.from(taken_bytes_);
    if (rest.empty()) return false;
    const http::BodyDecoder::Step step = decoder_.next(rest.text(), limits_);
    taken_bytes_ += step.consumed_bytes;
    data_ += step.data;
    if (step.verdict == Verdict::rejected) reject(step.error);
    if (step.verdict == Verdict::complete) end_message();
    return step.verdict != Verdict::rejected;
}

void EventLog::log_head(const http::RequestHead& head) {
    lines_.push_back(request_line_of(head));
    if (head.form != http::TargetForm::origin || head.has_query)
        lines_.push_back(target_line_of(head));
    if (head.has_query) lines_.push_back("query" + spaced(head.query));
    for (const Field& field : head.fields)
        lines_.push_back("field " + std::string{field.name} + ":" + spaced(field.value));
    if (head.body == http::BodyKind::length)
        lines_.push_back("body length " + std::to_string(head.content_length));
    if (head.body == http::BodyKind::chunked) lines_.emplace_back("body chunked");
    if (head.expects_continue) lines_.emplace_back("expects continue");
    if (head.upgrade) lines_.emplace_back("upgrade");
}

void EventLog::end_message() {
    flush_data();
    lines_.emplace_back("end");
    phase_ = keep_alive_ ? Phase::head : Phase::over;
    has_head_bytes_ = false;
}

void EventLog::reject(HttpError error) {
    flush_data();
    lines_.push_back("rejected " + std::to_string(info(error).status) + " " +
                     std::string{info(error).name});
    is_rejected_ = true;
    phase_ = Phase::over;
}

void EventLog::flush_data() {
    if (!data_.empty()) lines_.push_back("data " + escaped(std::exchange(data_, {})));
}

std::vector<std::string> EventLog::finish(size_t wire_bytes) {
    if (phase_ == Phase::head && has_head_bytes_) lines_.emplace_back("incomplete head");
    if (phase_ == Phase::body) {
        flush_data();
        lines_.emplace_back("incomplete body");
    }
    if (phase_ == Phase::over && !is_rejected_ && taken_bytes_ < wire_bytes)
        lines_.push_back("ignored " + std::to_string(wire_bytes - taken_bytes_) + " bytes");
    return std::move(lines_);
}

}  // namespace millrace::wire
