#include "core/http/method.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::http {
namespace {

constexpr auto methods = {Method::get,     Method::head,  Method::post,
                          Method::put,     Method::del,   Method::connect,
                          Method::options, Method::trace, Method::patch};

TEST(Methods, ComeBackFromTheirTokens) {
    for (const Method method : methods) {
        EXPECT_EQ(method_of(token_of(method)), method);
    }
    EXPECT_EQ(token_of(Method::get), "GET");
    EXPECT_EQ(token_of(Method::del), "DELETE");
    EXPECT_EQ(token_of(Method::other), "");
}

TEST(Methods, AreCaseSensitiveAndWhole) {
    for (const Method method : methods) {
        std::string token{token_of(method)};
        EXPECT_EQ(method_of(token.substr(1)), Method::other) << token;
        EXPECT_EQ(method_of(token + "X"), Method::other) << token;
        token.back() = 'x';
        EXPECT_EQ(method_of(token), Method::other) << token;
    }
    EXPECT_EQ(method_of("get"), Method::other);
    EXPECT_EQ(method_of(""), Method::other);
    EXPECT_EQ(method_of("PROPFIND"), Method::other);
}

}  // namespace
}  // namespace millrace::http
