// HttpResponse of JavaScript: calls on the response of a slot. All first carry out what JavaScript
// has written into the command memory, to keep the order of calls.
//
// The connection may have gone while the event that tells JavaScript so is still to come. Until
// then the program cannot know: its calls have no effect, and do not throw.
//
// `head` is what the program has set so far: 0 for nothing (more), the number of a prepared head,
// or lines (head_lines.h).
#include "node/app_binding.h"
#include "node/head_lines.h"

#include <cmath>

namespace millrace::node {
namespace {

uint32_t slot_of(const Arguments& arguments) { return arguments.unsigned_at(0); }

// nullptr if its connection has gone.
Response* response_of(const Arguments& arguments) {
    Environment& environment = arguments.environment();
    environment.run_commands();
    return environment.open_response(slot_of(arguments));
}

void apply_head(const Arguments& arguments, size_t index, Response& response) {
    Environment& environment = arguments.environment();
    if (arguments.type(index) == napi_number) {
        const uint32_t number = arguments.unsigned_at(index);
        if (number != 0) response.use(environment.head(number));
        return;
    }
    const std::string_view lines = arguments.bytes_at(index, environment.second_scratch);
    response.use(head_of_lines(lines));
}

// A copy of the handle, and JavaScript's slot given up, since the response is complete.
void release(const Arguments& arguments) {
    arguments.environment().responses().free(slot_of(arguments));
}

// prepareHead(lines) -> number
napi_value prepare_head(const Arguments& arguments) {
    Environment& environment = arguments.environment();
    const std::string_view lines = arguments.bytes_at(0, environment.scratch);
    return make_unsigned(arguments.env(), environment.add_head(head_of_lines(lines)));
}

// end(slot, head, body, close)
napi_value end(const Arguments& arguments) {
    Response* const response = response_of(arguments);
    if (!response) return nullptr;
    std::string_view body;
    if (!arguments.is_undefined(2)) body = arguments.bytes_at(2, arguments.environment().scratch);
    apply_head(arguments, 1, *response);
    Response answer = *response;
    answer.end(body, arguments.flag_at(3) ? Close::yes : Close::no);
    release(arguments);
    return nullptr;
}

// endWithoutBody(slot, head, reportedBytes or -1, close)
napi_value end_without_body(const Arguments& arguments) {
    Response* const response = response_of(arguments);
    if (!response) return nullptr;
    std::optional<uint64_t> reported;
    const double bytes = arguments.number_at(2);
    if (bytes >= 0) reported = static_cast<uint64_t>(bytes);
    apply_head(arguments, 1, *response);
    Response answer = *response;
    answer.end_without_body(reported, arguments.flag_at(3) ? Close::yes : Close::no);
    release(arguments);
    return nullptr;
}

// write(slot, head, chunk) -> false if bytes are queued
napi_value write(const Arguments& arguments) {
    Response* const response = response_of(arguments);
    if (!response) return make_flag(arguments.env(), false);
    const std::string_view chunk = arguments.bytes_at(2, arguments.environment().scratch);
    apply_head(arguments, 1, *response);
    return make_flag(arguments.env(), response->write(chunk));
}

// beginWrite(slot, head)
napi_value begin_write(const Arguments& arguments) {
    Response* const response = response_of(arguments);
    if (!response) return nullptr;
    apply_head(arguments, 1, *response);
    response->begin_write();
    return nullptr;
}

// tryEnd(slot, head, chunk, totalBytes) -> flags: 1 accepted, 2 done
napi_value try_end(const Arguments& arguments) {
    Response* const response = response_of(arguments);
    if (!response) return make_unsigned(arguments.env(), 0);
    const std::string_view chunk = arguments.bytes_at(2, arguments.environment().scratch);
    apply_head(arguments, 1, *response);
    Response answer = *response;
    const TryEnd result = answer.try_end(chunk, static_cast<uint64_t>(arguments.number_at(3)));
    if (result.done) release(arguments);
    return make_unsigned(arguments.env(), (result.accepted ? 1u : 0u) | (result.done ? 2u : 0u));
}

// writeOffset(slot) -> number
napi_value write_offset(const Arguments& arguments) {
    const Response* const response = response_of(arguments);
    const uint64_t offset = response ? response->write_offset() : 0;
    return make_number(arguments.env(), static_cast<double>(offset));
}

// queuedBytes(slot) -> number
napi_value queued_bytes(const Arguments& arguments) {
    const Response* const response = response_of(arguments);
    const uint64_t bytes = response ? response->queued_bytes() : 0;
    return make_number(arguments.env(), static_cast<double>(bytes));
}

// notifyWritable(slot)
napi_value notify_writable(const Arguments& arguments) {
    if (Response* const response = response_of(arguments)) response->notify_writable();
    return nullptr;
}

// closeConnection(slot) -> the slots whose responses were aborted, the given one among them
napi_value close_connection(const Arguments& arguments) {
    Environment& environment = arguments.environment();
    Response* const response = response_of(arguments);
    if (!response) {
        const uint32_t slots[] = {slot_of(arguments)};
        return make_array(arguments.env(), slots);
    }
    Environment::AbortCollector collector{environment};
    Response(*response).close();
    environment.update_keep_alive();
    return make_array(arguments.env(), collector.slots);
}

// bodyState(slot) -> flags: 1 the request has a body, 2 a part of it is held
napi_value body_state(const Arguments& arguments) {
    const Response* const response = response_of(arguments);
    const bool has_body = !response || response->has_body();
    const bool is_held = response && response->holds_body();
    return make_unsigned(arguments.env(), (has_body ? 1u : 0u) | (is_held ? 2u : 0u));
}

// holdBody(slot, offset, bytes, isLast): nobody reads yet
napi_value hold_body(const Arguments& arguments) {
    Environment& environment = arguments.environment();
    const std::string_view data =
        environment.received(arguments.unsigned_at(1), arguments.unsigned_at(2));
    if (Response* const response = response_of(arguments))
        response->hold_body(data, arguments.flag_at(3));
    return nullptr;
}

// pauseBody(slot)
napi_value pause_body(const Arguments& arguments) {
    if (Response* const response = response_of(arguments)) response->pause();
    return nullptr;
}

// releaseBody(slot): deliver what is held and what comes
napi_value release_body(const Arguments& arguments) {
    if (Response* const response = response_of(arguments)) response->release_body();
    return nullptr;
}

std::string address_of(const Arguments& arguments) {
    const Response* const response = response_of(arguments);
    return response ? response->remote_address() : std::string{};
}

// remoteAddress(slot) -> ArrayBuffer of 4, 16 or 0 bytes
napi_value remote_address(const Arguments& arguments) {
    return make_array_buffer(arguments.env(), address_of(arguments));
}

// remoteAddressText(slot) -> string
napi_value remote_address_text(const Arguments& arguments) {
    return make_utf8(arguments.env(), to_text(address_of(arguments)));
}

// remotePort(slot) -> number
napi_value remote_port(const Arguments& arguments) {
    const Response* const response = response_of(arguments);
    return make_unsigned(arguments.env(), response ? response->remote_port() : 0);
}

}  // namespace

void define_response_functions(napi_env env, napi_value exports) {
    define(env, exports, "prepareHead", prepare_head);
    define(env, exports, "end", end);
    define(env, exports, "endWithoutBody", end_without_body);
    define(env, exports, "write", write);
    define(env, exports, "beginWrite", begin_write);
    define(env, exports, "tryEnd", try_end);
    define(env, exports, "writeOffset", write_offset);
    define(env, exports, "queuedBytes", queued_bytes);
    define(env, exports, "notifyWritable", notify_writable);
    define(env, exports, "closeConnection", close_connection);
    define(env, exports, "bodyState", body_state);
    define(env, exports, "holdBody", hold_body);
    define(env, exports, "pauseBody", pause_body);
    define(env, exports, "releaseBody", release_body);
    define(env, exports, "remoteAddress", remote_address);
    define(env, exports, "remoteAddressText", remote_address_text);
    define(env, exports, "remotePort", remote_port);
}

}  // namespace millrace::node
