#include "node/values.h"

#include "millrace/error.h"
#include "node/environment.h"

#include <cstring>
#include <new>

namespace millrace::node {
namespace {

const char* code_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::response_gone:
            return "ERR_MILLRACE_RESPONSE_GONE";
        case ErrorCode::head_sent:
            return "ERR_MILLRACE_HEAD_SENT";
        case ErrorCode::bad_status:
            return "ERR_MILLRACE_BAD_STATUS";
        case ErrorCode::bad_field_name:
            return "ERR_MILLRACE_BAD_FIELD_NAME";
        case ErrorCode::bad_field_value:
            return "ERR_MILLRACE_BAD_FIELD_VALUE";
        case ErrorCode::bad_transfer_encoding:
            return "ERR_MILLRACE_BAD_TRANSFER_ENCODING";
        case ErrorCode::length_mismatch:
            return "ERR_MILLRACE_LENGTH_MISMATCH";
        case ErrorCode::bad_pattern:
            return "ERR_MILLRACE_BAD_PATTERN";
        case ErrorCode::app_closed:
            return "ERR_MILLRACE_APP_CLOSED";
    }
    return "ERR_MILLRACE";
}

napi_value call(napi_env env, napi_callback_info info) {
    void* data = nullptr;
    try {
        check(env, napi_get_cb_info(env, info, nullptr, nullptr, nullptr, &data));
        return reinterpret_cast<Body>(data)(Arguments{env, info});
    } catch (const JsPending&) {
    } catch (const Error& error) {
        napi_throw_error(env, code_of(error.code()), error.what());
    } catch (const std::bad_alloc&) {
        napi_throw_error(env, "ERR_MILLRACE_OUT_OF_MEMORY", "out of memory");
    } catch (const std::exception& error) {
        napi_throw_error(env, "ERR_MILLRACE", error.what());
    }
    return nullptr;
}

}  // namespace

void fail(napi_env env) {
    bool is_pending = false;
    napi_is_exception_pending(env, &is_pending);
    if (!is_pending) napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", "invalid argument");
    throw JsPending{};
}

void throw_error(napi_env env, const char* code, const std::string& message) {
    napi_throw_error(env, code, message.c_str());
    throw JsPending{};
}

void throw_type_error(napi_env env, const std::string& message) {
    napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", message.c_str());
    throw JsPending{};
}

Arguments::Arguments(napi_env env, napi_callback_info info) : env_(env) {
    size_t count = count_max;
    check(env, napi_get_cb_info(env, info, &count, values_.data(), nullptr, nullptr));
    void* data = nullptr;
    check(env, napi_get_instance_data(env, &data));
    environment_ = static_cast<Environment*>(data);
    if (!environment_) throw_error(env, "ERR_MILLRACE", "the addon is not initialised");
}

napi_valuetype Arguments::type(size_t index) const {
    napi_valuetype type = napi_undefined;
    check(env_, napi_typeof(env_, values_[index], &type));
    return type;
}

uint32_t Arguments::unsigned_at(size_t index) const {
    uint32_t value = 0;
    check(env_, napi_get_value_uint32(env_, values_[index], &value));
    return value;
}

double Arguments::number_at(size_t index) const {
    double value = 0;
    check(env_, napi_get_value_double(env_, values_[index], &value));
    return value;
}

bool Arguments::flag_at(size_t index) const {
    bool value = false;
    check(env_, napi_get_value_bool(env_, values_[index], &value));
    return value;
}

std::string Arguments::text_at(size_t index) const {
    std::string text;
    size_t bytes = 0;
    check(env_, napi_get_value_string_utf8(env_, values_[index], nullptr, 0, &bytes));
    text.resize(bytes + 1);
    check(env_, napi_get_value_string_utf8(env_, values_[index], text.data(), bytes + 1, &bytes));
    text.resize(bytes);
    return text;
}

std::string_view Arguments::bytes_at(size_t index, std::string& store) const {
    const napi_value value = values_[index];
    if (type(index) == napi_string) {
        size_t bytes = 0;
        // Most strings fit what `store` has already; then the length need not be asked for first.
        constexpr size_t worst_bytes_per_char = 3;
        size_t units = 0;
        check(env_, napi_get_value_string_utf16(env_, value, nullptr, 0, &units));
        store.resize(units * worst_bytes_per_char + 1);
        check(env_, napi_get_value_string_utf8(env_, value, store.data(), store.size(), &bytes));
        return {store.data(), bytes};
    }
    void* data = nullptr;
    size_t bytes = 0;
    bool is = false;
    check(env_, napi_is_typedarray(env_, value, &is));
    if (is) {
        // Node-API gives the number of elements; the size of one follows from the type.
        napi_typedarray_type element = napi_uint8_array;
        check(env_,
              napi_get_typedarray_info(env_, value, &element, &bytes, &data, nullptr, nullptr));
        constexpr size_t element_bytes[] = {1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 8, 2};
        if (static_cast<size_t>(element) >= std::size(element_bytes)) fail(env_);
        return {static_cast<const char*>(data), bytes * element_bytes[element]};
    }
    check(env_, napi_is_arraybuffer(env_, value, &is));
    if (is) {
        check(env_, napi_get_arraybuffer_info(env_, value, &data, &bytes));
        return {static_cast<const char*>(data), bytes};
    }
    check(env_, napi_is_dataview(env_, value, &is));
    if (!is) throw_type_error(env_, "expected a string, an ArrayBuffer or a view");
    check(env_, napi_get_dataview_info(env_, value, &bytes, &data, nullptr, nullptr));
    return {static_cast<const char*>(data), bytes};
}

napi_value make_undefined(napi_env env) {
    napi_value value = nullptr;
    check(env, napi_get_undefined(env, &value));
    return value;
}

napi_value make_flag(napi_env env, bool flag) {
    napi_value value = nullptr;
    check(env, napi_get_boolean(env, flag, &value));
    return value;
}

napi_value make_number(napi_env env, double number) {
    napi_value value = nullptr;
    check(env, napi_create_double(env, number, &value));
    return value;
}

napi_value make_unsigned(napi_env env, uint32_t number) {
    napi_value value = nullptr;
    check(env, napi_create_uint32(env, number, &value));
    return value;
}

napi_value make_utf8(napi_env env, std::string_view text) {
    napi_value value = nullptr;
    check(env, napi_create_string_utf8(env, text.data() ? text.data() : "", text.size(), &value));
    return value;
}

napi_value make_latin1(napi_env env, std::string_view text) {
    napi_value value = nullptr;
    check(env, napi_create_string_latin1(env, text.data() ? text.data() : "", text.size(), &value));
    return value;
}

napi_value make_array_buffer(napi_env env, std::string_view bytes) {
    napi_value value = nullptr;
    void* data = nullptr;
    check(env, napi_create_arraybuffer(env, bytes.size(), &data, &value));
    if (!bytes.empty()) std::memcpy(data, bytes.data(), bytes.size());
    return value;
}

napi_value make_array(napi_env env, std::span<const uint32_t> values) {
    napi_value array = nullptr;
    check(env, napi_create_array_with_length(env, values.size(), &array));
    for (uint32_t index = 0; index < values.size(); ++index)
        check(env, napi_set_element(env, array, index, make_unsigned(env, values[index])));
    return array;
}

void define(napi_env env, napi_value object, const char* name, Body body) {
    napi_value function = nullptr;
    check(env, napi_create_function(env, name, NAPI_AUTO_LENGTH, call,
                                    reinterpret_cast<void*>(body), &function));
    check(env, napi_set_named_property(env, object, name, function));
}

}  // namespace millrace::node
