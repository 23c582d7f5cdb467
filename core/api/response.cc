#include "millrace/response.h"

#include "core/server/connection.h"
#include "core/server/exchange.h"
#include "core/server/peer.h"
#include "core/server/response_head.h"
#include "millrace/error.h"

namespace millrace {
namespace {

using server::AnswerState;

void check_status(std::string_view status) {
    if (!server::is_final_status(status))
        throw Error(ErrorCode::bad_status,
                    "a status is three digits from 200 to 999, alone or followed by a space and a "
                    "reason");
}

void check_field(std::string_view name, std::string_view value) {
    switch (server::fault_of_field(name, value)) {
        case server::FieldFault::none:
            return;
        case server::FieldFault::name:
            throw Error(ErrorCode::bad_field_name, "a field name must be a token (RFC 9110)");
        case server::FieldFault::value:
            throw Error(ErrorCode::bad_field_value,
                        "a field value must not have control characters");
        case server::FieldFault::transfer_encoding:
            throw Error(ErrorCode::bad_transfer_encoding,
                        "the engine frames messages itself: Transfer-Encoding may only be chunked");
    }
}

void check_head_unsent(const server::Exchange& exchange) {
    if (exchange.state() != AnswerState::head)
        throw Error(ErrorCode::head_sent, "the head of the response has been sent");
}

}  // namespace

PreparedHead::PreparedHead() : head_(std::make_unique<server::ResponseHead>()) {}
PreparedHead::~PreparedHead() = default;
PreparedHead::PreparedHead(PreparedHead&&) noexcept = default;
PreparedHead& PreparedHead::operator=(PreparedHead&&) noexcept = default;

PreparedHead& PreparedHead::status(std::string_view status) {
    check_status(status);
    if (head_->status == 0) head_->set_status(status);
    return *this;
}

PreparedHead& PreparedHead::header(std::string_view name, std::string_view value) {
    check_field(name, value);
    head_->add_field(name, value);
    return *this;
}

server::Exchange& Response::live() const {
    if (!is_open())
        throw Error(ErrorCode::response_gone,
                    "the response is complete, or its connection is gone");
    return *exchange_;
}

bool Response::is_open() const noexcept {
    return exchange_ && exchange_->generation() == generation_ &&
           exchange_->state() != AnswerState::complete;
}

Response& Response::status(std::string_view status) {
    server::Exchange& exchange = live();
    check_status(status);
    check_head_unsent(exchange);
    if (exchange.head().status == 0) exchange.head().set_status(status);
    return *this;
}

Response& Response::header(std::string_view name, std::string_view value) {
    server::Exchange& exchange = live();
    check_field(name, value);
    check_head_unsent(exchange);
    exchange.head().add_field(name, value);
    return *this;
}

Response& Response::use(const PreparedHead& head) {
    server::Exchange& exchange = live();
    check_head_unsent(exchange);
    exchange.head() = head.internals();
    return *this;
}

bool Response::write(std::string_view chunk) {
    server::Exchange& exchange = live();
    if (exchange.state() == AnswerState::sized)
        throw Error(ErrorCode::head_sent, "the response has an announced length: use try_end()");
    return exchange.write(chunk);
}

void Response::begin_write() { live().begin_write(); }

void Response::end(std::string_view body, Close close) {
    server::Exchange& exchange = live();
    if (exchange.state() == AnswerState::sized && body.size() != exchange.missing_bytes())
        throw Error(ErrorCode::length_mismatch,
                    "the body has more or fewer bytes than were announced");
    if (close == Close::yes) exchange.close_after();
    exchange.end(body);
}

void Response::end(const PreparedHead& head, std::string_view body, Close close) {
    server::Exchange& exchange = live();
    check_head_unsent(exchange);
    if (close == Close::yes) exchange.close_after();
    exchange.end_with(head.internals(), body);
}

void Response::end_without_body(std::optional<uint64_t> reported_bytes, Close close) {
    server::Exchange& exchange = live();
    if (exchange.state() == AnswerState::sized)
        throw Error(ErrorCode::length_mismatch, "the body has fewer bytes than were announced");
    if (close == Close::yes) exchange.close_after();
    exchange.end_without_body(reported_bytes);
}

TryEnd Response::try_end(std::string_view chunk, uint64_t total_bytes) {
    server::Exchange& exchange = live();
    switch (exchange.state()) {
        case AnswerState::chunked:
        case AnswerState::until_close:
            exchange.end(chunk);
            return {true, true};
        case AnswerState::head:
            if (total_bytes != 0 && chunk.size() > total_bytes)
                throw Error(ErrorCode::length_mismatch, "the chunk is more than the whole body");
            break;
        case AnswerState::sized:
            if (chunk.size() > exchange.missing_bytes() ||
                (total_bytes != 0 && total_bytes != exchange.total_bytes()))
                throw Error(ErrorCode::length_mismatch,
                            "the chunk is more than what is missing of the body");
            break;
        case AnswerState::complete:
            break;
    }
    const auto result = exchange.try_end(chunk, total_bytes);
    return {result.accepted, result.done};
}

uint64_t Response::write_offset() const { return live().accepted_bytes(); }

uint64_t Response::queued_bytes() const { return live().queued_bytes(); }

void Response::notify_writable() { live().notify_writable(); }

void Response::pause() { live().pause_body(); }
void Response::resume() { live().resume_body(); }

void Response::close() {
    server::Connection& connection = live().connection();
    connection.flush_gathered();  // answers that are complete already are owed to the peer
    connection.close();
}

std::string Response::remote_address() const { return server::peer_of(live().connection()).ip; }

uint16_t Response::remote_port() const { return server::peer_of(live().connection()).port; }

uint64_t Response::tag() const { return live().tag; }
void Response::set_tag(uint64_t tag) { live().tag = tag; }

bool Response::has_body() const { return live().traits().has_body; }
bool Response::holds_body() const { return live().holds_body(); }

void Response::hold_body(std::string_view data, bool is_last) {
    live().hold_body_again(data, is_last);
}
void Response::release_body() { live().resume_body(); }

std::string to_text(std::string_view address) { return server::ip_text(address); }

}  // namespace millrace
