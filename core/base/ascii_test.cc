#include "core/base/ascii.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(Ascii, LowersLettersOnly) {
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        const bool is_upper = byte >= 'A' && byte <= 'Z';
        EXPECT_EQ(to_lower(c), is_upper ? static_cast<char>(byte + 32) : c);
    }
}

TEST(Ascii, EqualWithoutCase) {
    EXPECT_TRUE(equals_lower("", ""));
    EXPECT_TRUE(equals_lower("Content-LENGTH", "content-length"));
    EXPECT_FALSE(equals_lower("content-lengt", "content-length"));
    EXPECT_FALSE(equals_lower("content-lengthx", "content-length"));
    EXPECT_FALSE(equals_lower("content_length", "content-length"));
    EXPECT_FALSE(equals_lower("[", "{"));  // 32 apart, but no letters
}

TEST(Ascii, MembersOfLists) {
    EXPECT_TRUE(list_has("close", "close"));
    EXPECT_TRUE(list_has("Upgrade, CLOSE", "close"));
    EXPECT_TRUE(list_has(" \tclose\t ,x", "close"));
    EXPECT_TRUE(list_has(",,close,,", "close"));
    EXPECT_TRUE(list_has("a,b ,\tclose", "close"));
    EXPECT_FALSE(list_has("", "close"));
    EXPECT_FALSE(list_has(",", "close"));
    EXPECT_FALSE(list_has("closed", "close"));
    EXPECT_FALSE(list_has("clo se", "close"));
    EXPECT_FALSE(list_has("x-close, keep-alive", "close"));
}

}  // namespace
}  // namespace millrace
