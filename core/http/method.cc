#include "core/http/method.h"

#include <array>

namespace millrace::http {
namespace {

constexpr std::array<std::string_view, 10> tokens{"GET",     "HEAD",    "POST",  "PUT",   "DELETE",
                                                  "CONNECT", "OPTIONS", "TRACE", "PATCH", ""};
static_assert(tokens.size() == static_cast<size_t>(Method::other) + 1);

constexpr Method if_equal(std::string_view token, Method method) {
    return token == tokens[static_cast<size_t>(method)] ? method : Method::other;
}

}  // namespace

Method method_of(std::string_view token) {
    switch (token.size()) {
        case 3:
            return token[0] == 'G' ? if_equal(token, Method::get) : if_equal(token, Method::put);
        case 4:
            return token[0] == 'P' ? if_equal(token, Method::post) : if_equal(token, Method::head);
        case 5:
            return token[0] == 'P' ? if_equal(token, Method::patch)
                                   : if_equal(token, Method::trace);
        case 6:
            return if_equal(token, Method::del);
        case 7:
            return token[0] == 'O' ? if_equal(token, Method::options)
                                   : if_equal(token, Method::connect);
        default:
            return Method::other;
    }
}

std::string_view token_of(Method method) { return tokens[static_cast<size_t>(method)]; }

}  // namespace millrace::http
