// HttpRequest of JavaScript: reads of the request number `index` of the batch under way.
#include "node/app_binding.h"

namespace millrace::node {
namespace {

Request& request_of(const Arguments& arguments) {
    return arguments.environment().request(arguments.unsigned_at(0));
}

// requestMethod(index) -> string
napi_value method(const Arguments& arguments) {
    return make_latin1(arguments.env(), request_of(arguments).method());
}

// requestUrl(index) -> the path
napi_value url(const Arguments& arguments) {
    return make_utf8(arguments.env(), request_of(arguments).path());
}

// requestQuery(index) -> the query, undefined without '?'
napi_value query(const Arguments& arguments) {
    Request& request = request_of(arguments);
    if (!request.has_query()) return make_undefined(arguments.env());
    return make_utf8(arguments.env(), request.query());
}

// requestHeader(index, name) -> the first value, '' if there is none
napi_value header(const Arguments& arguments) {
    std::string& store = arguments.environment().scratch;
    const std::string_view name = arguments.bytes_at(1, store);
    return make_latin1(arguments.env(), request_of(arguments).header(name).value_or(""));
}

// requestFields(index) -> [name, value, name, value, ...]
napi_value fields(const Arguments& arguments) {
    const napi_env env = arguments.env();
    const auto lines = request_of(arguments).fields();
    napi_value array = nullptr;
    check(env, napi_create_array_with_length(env, lines.size() * 2, &array));
    uint32_t index = 0;
    for (const Field& field : lines) {
        check(env, napi_set_element(env, array, index++, make_latin1(env, field.name)));
        check(env, napi_set_element(env, array, index++, make_latin1(env, field.value)));
    }
    return array;
}

// requestParameter(index, number or name) -> string or undefined
napi_value parameter(const Arguments& arguments) {
    Request& request = request_of(arguments);
    std::optional<std::string_view> value;
    if (arguments.type(1) == napi_number) {
        value = request.parameter(arguments.unsigned_at(1));
    } else {
        std::string& store = arguments.environment().scratch;
        value = request.parameter(arguments.bytes_at(1, store));
    }
    return value ? make_utf8(arguments.env(), *value) : make_undefined(arguments.env());
}

// nextRoute(app, index) -> the next candidate, 0xffffffff if there is none
napi_value next_route(const Arguments& arguments) {
    Environment& environment = arguments.environment();
    Server& server = environment.app(arguments.unsigned_at(0)).server();
    return make_unsigned(arguments.env(),
                         server.next_route(environment.request(arguments.unsigned_at(1))));
}

// answerNotFound(app, index, slot)
napi_value answer_not_found(const Arguments& arguments) {
    Environment& environment = arguments.environment();
    Server& server = environment.app(arguments.unsigned_at(0)).server();
    const uint32_t slot = arguments.unsigned_at(2);
    const Response* const response = environment.open_response(slot);
    if (!response) return nullptr;  // its connection has gone
    server.answer_not_found(*response, environment.request(arguments.unsigned_at(1)));
    environment.responses().free(slot);
    return nullptr;
}

}  // namespace

void define_request_functions(napi_env env, napi_value exports) {
    define(env, exports, "requestMethod", method);
    define(env, exports, "requestUrl", url);
    define(env, exports, "requestQuery", query);
    define(env, exports, "requestHeader", header);
    define(env, exports, "requestFields", fields);
    define(env, exports, "requestParameter", parameter);
    define(env, exports, "nextRoute", next_route);
    define(env, exports, "answerNotFound", answer_not_found);
}

}  // namespace millrace::node
