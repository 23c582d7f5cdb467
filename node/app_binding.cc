#include "node/app_binding.h"

#include <cstring>
#include <utility>

namespace millrace::node {
namespace {

// Limits by their JavaScript names; each is a whole number that JavaScript has checked.
constexpr std::pair<const char*, uint32_t HttpLimits::*> limit_names[] = {
    {"headBytesMax", &HttpLimits::head_bytes_max},
    {"fieldsMax", &HttpLimits::fields_max},
    {"chunkExtensionBytesMax", &HttpLimits::chunk_extension_bytes_max},
    {"trailerBytesMax", &HttpLimits::trailer_bytes_max},
    {"chunkOverheadPercentMax", &HttpLimits::chunk_overhead_percent_max},
    {"bodyHoldBytesMax", &HttpLimits::body_hold_bytes_max},
    {"bodyDiscardBytesMax", &HttpLimits::body_discard_bytes_max},
    {"pipelineMax", &HttpLimits::pipeline_max},
    {"headTimeoutMs", &HttpLimits::head_timeout_ms},
    {"bodyIdleTimeoutMs", &HttpLimits::body_idle_timeout_ms},
    {"keepAliveTimeoutMs", &HttpLimits::keep_alive_timeout_ms},
    {"writeStallTimeoutMs", &HttpLimits::write_stall_timeout_ms},
    {"lingerTimeoutMs", &HttpLimits::linger_timeout_ms},
};

HttpLimits read_limits(napi_env env, napi_value object) {
    HttpLimits limits;
    for (const auto& [name, member] : limit_names) {
        napi_value value = nullptr;
        napi_valuetype type = napi_undefined;
        check(env, napi_get_named_property(env, object, name, &value));
        check(env, napi_typeof(env, value, &type));
        if (type == napi_undefined) continue;
        check(env, napi_get_value_uint32(env, value, &(limits.*member)));
    }
    return limits;
}

// createApp(limits, headFromGet, methodNotAllowed) -> number of the app
napi_value create_app(const Arguments& arguments) {
    ServerOptions options;
    options.limits = read_limits(arguments.env(), arguments.at(0));
    options.delivery = Delivery::batched;
    options.head_from_get = arguments.flag_at(1);
    options.method_not_allowed = arguments.flag_at(2);
    Environment& environment = arguments.environment();
    return make_unsigned(arguments.env(),
                         environment.add_app(std::make_unique<AppBinding>(environment, options)));
}

Server& server_of(const Arguments& arguments) {
    return arguments.environment().app(arguments.unsigned_at(0)).server();
}

// addRoute(app, method, pattern, route) -> the route that was there before, or 0xffffffff
napi_value add_route(const Arguments& arguments) {
    const uint32_t before = server_of(arguments).add_route(
        arguments.text_at(1), arguments.text_at(2), arguments.unsigned_at(3));
    return make_unsigned(arguments.env(), before);
}

// removeRoute(app, method, pattern) -> the route that was there, or 0xffffffff
napi_value remove_route(const Arguments& arguments) {
    const uint32_t removed =
        server_of(arguments).remove_route(arguments.text_at(1), arguments.text_at(2));
    return make_unsigned(arguments.env(), removed);
}

// listen(app, host, port, shared) -> number of the listener, or the negated errno
napi_value listen(const Arguments& arguments) {
    ListenerId id = 0;
    const int error = server_of(arguments).listen(
        {.host = arguments.text_at(1),
         .port = static_cast<uint16_t>(arguments.unsigned_at(2)),
         .sharing = arguments.flag_at(3) ? PortSharing::shared : PortSharing::exclusive},
        id);
    arguments.environment().update_keep_alive();
    return make_number(arguments.env(), error == 0 ? static_cast<double>(id) : -error);
}

// closeListener(app, listener) -> whether it was open
napi_value close_listener(const Arguments& arguments) {
    const bool was_open = server_of(arguments).close_listener(arguments.unsigned_at(1));
    arguments.environment().update_keep_alive();
    return make_flag(arguments.env(), was_open);
}

// localPort(app, listener) -> the port, -1 if it is closed
napi_value local_port(const Arguments& arguments) {
    return make_number(arguments.env(), server_of(arguments).local_port(arguments.unsigned_at(1)));
}

// closeApp(app) -> the slots whose responses were aborted
napi_value close_app(const Arguments& arguments) {
    Environment& environment = arguments.environment();
    environment.flush_now();
    Environment::AbortCollector collector{environment};
    server_of(arguments).close();
    environment.update_keep_alive();
    return make_array(arguments.env(), collector.slots);
}

// stats(app) -> an object of numbers
napi_value stats(const Arguments& arguments) {
    const napi_env env = arguments.env();
    const ServerStats server = server_of(arguments).stats();
    const LoopStats loop = arguments.environment().loop().stats();
    const std::pair<const char*, uint64_t> figures[] = {
        {"connections", server.connections},
        {"accepted", server.accepted},
        {"requests", server.requests},
        {"rejected", server.rejected},
        {"aborted", server.aborted},
        {"timeouts", server.timeouts},
        {"turns", loop.turns},
        {"batches", loop.batches},
        {"events", loop.events},
        {"reads", loop.receives},
        {"writes", loop.sends},
        {"groupedWrites", loop.grouped_sends},
        {"bytesRead", loop.received_bytes},
        {"bytesWritten", loop.sent_bytes},
    };
    napi_value object = nullptr;
    check(env, napi_create_object(env, &object));
    for (const auto& [name, value] : figures)
        check(env, napi_set_named_property(env, object, name,
                                           make_number(env, static_cast<double>(value))));
    return object;
}

}  // namespace

void define_app_functions(napi_env env, napi_value exports) {
    define(env, exports, "createApp", create_app);
    define(env, exports, "addRoute", add_route);
    define(env, exports, "removeRoute", remove_route);
    define(env, exports, "listen", listen);
    define(env, exports, "closeListener", close_listener);
    define(env, exports, "localPort", local_port);
    define(env, exports, "closeApp", close_app);
    define(env, exports, "stats", stats);
}

}  // namespace millrace::node
