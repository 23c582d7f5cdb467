// Between Node-API values and C++: reading arguments, making results, throwing.
//
// JavaScript (js/native) has checked the arguments; what is read here is nevertheless read with
// care, since no call may bring the process down. A wrong argument throws.
#pragma once

#include <node_api.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace millrace::node {

class Environment;

// Thrown when a JavaScript exception is pending: unwinds to the callback's edge.
struct JsPending {};

// Throws JsPending after making sure that an exception is pending.
[[noreturn]] void fail(napi_env env);
[[noreturn]] void throw_error(napi_env env, const char* code, const std::string& message);
[[noreturn]] void throw_type_error(napi_env env, const std::string& message);

inline void check(napi_env env, napi_status status) {
    if (status != napi_ok) fail(env);
}

// The arguments of one call.
class Arguments {
  public:
    static constexpr size_t count_max = 6;

    Arguments(napi_env env, napi_callback_info info);

    napi_env env() const { return env_; }
    Environment& environment() const { return *environment_; }

    napi_value at(size_t index) const { return values_[index]; }
    napi_valuetype type(size_t index) const;
    bool is_undefined(size_t index) const { return type(index) == napi_undefined; }

    uint32_t unsigned_at(size_t index) const;
    double number_at(size_t index) const;
    bool flag_at(size_t index) const;

    // UTF-8. A lone surrogate becomes U+FFFD.
    std::string text_at(size_t index) const;

    // Bytes of a string (as UTF-8, kept in `store`), ArrayBuffer, SharedArrayBuffer or view. Valid
    // until JavaScript runs again, or `store` changes.
    std::string_view bytes_at(size_t index, std::string& store) const;

  private:
    napi_env env_;
    Environment* environment_ = nullptr;
    std::array<napi_value, count_max> values_;
};

napi_value make_undefined(napi_env env);
napi_value make_flag(napi_env env, bool value);
napi_value make_number(napi_env env, double value);
napi_value make_unsigned(napi_env env, uint32_t value);
napi_value make_utf8(napi_env env, std::string_view text);
napi_value make_latin1(napi_env env, std::string_view text);
// A copy.
napi_value make_array_buffer(napi_env env, std::string_view bytes);
napi_value make_array(napi_env env, std::span<const uint32_t> values);

// The body of a native function: arguments in, result out; whatever it throws becomes a JavaScript
// exception.
using Body = napi_value (*)(const Arguments& arguments);

void define(napi_env env, napi_value object, const char* name, Body body);

}  // namespace millrace::node
