#include "core/http/response_encoder.h"

#include "core/testing/guard_page.h"

#include <gtest/gtest.h>

#include <ctime>
#include <limits>
#include <string>

namespace millrace::http {
namespace {

using namespace std::string_literals;

std::string date_of_second(int64_t second) {
    std::array<char, http_date_bytes> out;
    format_http_date(second, out.data());
    return {out.data(), out.size()};
}

std::string decimal(uint64_t value) {
    std::array<char, 20> out;
    return {out.data(), format_decimal(value, out.data())};
}

std::string chunk_size(uint64_t value) {
    std::array<char, 18> out;
    return {out.data(), format_chunk_size(value, out.data())};
}

TEST(Reasons, AreThoseOfTheRegistry) {
    EXPECT_EQ(reason_of(100), "Continue");
    EXPECT_EQ(reason_of(200), "OK");
    EXPECT_EQ(reason_of(304), "Not Modified");
    EXPECT_EQ(reason_of(404), "Not Found");
    EXPECT_EQ(reason_of(431), "Request Header Fields Too Large");
    EXPECT_EQ(reason_of(511), "Network Authentication Required");
    for (const unsigned unknown : {0U, 99U, 199U, 306U, 418U, 599U, 600U, 999U, 4'000'000'000U}) {
        EXPECT_EQ(reason_of(unknown), "") << unknown;
    }
}

TEST(Tokens, AreNotEmptyAndHaveNoSeparators) {
    EXPECT_TRUE(is_token("X-a_1!#$%&'*+.^`|~"));
    EXPECT_FALSE(is_token(""));
    for (const char bad : "\0 \t\r\n\"(),/:;<=>?@[\\]{}\x7f\x80\xff"s) {
        EXPECT_FALSE(is_token("a"s + bad + "b"s)) << static_cast<int>(bad);
    }
}

TEST(FieldValues, BothTwinsAgreeOnEveryByteAtEveryPlace) {
    testing::GuardedBuffer memory{64};
    for (size_t size = 0; size <= 50; ++size) {
        const std::string clean(size, 'v');
        EXPECT_TRUE(is_field_value(memory.put_at_end(clean)));
        EXPECT_TRUE(is_field_value_plain(clean));
        for (size_t at = 0; at < size; ++at) {
            for (unsigned byte = 0; byte < 256; ++byte) {
                std::string text = clean;
                text[at] = static_cast<char>(byte);
                const bool is_good = byte == '\t' || (byte >= 0x20 && byte != 0x7f);
                ASSERT_EQ(is_field_value(memory.put_at_end(text)), is_good) << size << " " << byte;
                ASSERT_EQ(is_field_value_plain(text), is_good) << size << " " << byte;
            }
        }
    }
}

TEST(Status, IsThreeDigitsAndAReason) {
    for (const std::string& good : {"200"s, "100 Continue"s, "999"s, "200 "s, "404 \xe9\t!"s}) {
        EXPECT_TRUE(is_status(good)) << good;
    }
    for (const std::string& bad :
         {""s, "20"s, "099"s, "000"s, "2000"s, "20x"s, "200OK"s, " 200"s, "200\tOK"s, "200 a\r\nb"s,
          "200 a\nb"s, "200 \0"s, "-20"s, "OK"s}) {
        EXPECT_FALSE(is_status(bad)) << bad;
    }
}

TEST(HttpDate, FormatsKnownMoments) {
    EXPECT_EQ(date_of_second(0), "Thu, 01 Jan 1970 00:00:00 GMT");
    EXPECT_EQ(date_of_second(784'111'777), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(date_of_second(951'782'400), "Tue, 29 Feb 2000 00:00:00 GMT");
    EXPECT_EQ(date_of_second(4'107'542'399), "Sun, 28 Feb 2100 23:59:59 GMT");
    EXPECT_EQ(date_of_second(253'402'300'799), "Fri, 31 Dec 9999 23:59:59 GMT");
}

TEST(HttpDate, StaysInsideItsFourDigits) {
    EXPECT_EQ(date_of_second(-1), date_of_second(0));
    EXPECT_EQ(date_of_second(std::numeric_limits<int64_t>::max()), date_of_second(253'402'300'799));
}

TEST(HttpDate, AgreesWithTheCalendarOfTheSystem) {
    constexpr int64_t day_seconds = 86'400;
    for (int64_t day = 0; day < 366 * 450; ++day) {
        const time_t moment = day * day_seconds + day % day_seconds;
        tm parts{};
        gmtime_r(&moment, &parts);
        std::array<char, 40> expected;
        const size_t size =
            std::strftime(expected.data(), expected.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
        ASSERT_EQ(date_of_second(moment), std::string(expected.data(), size));
    }
}

TEST(Decimal, WritesEveryNumberOfDigits) {
    uint64_t power = 1;
    for (int digits = 1; digits <= 20; ++digits) {
        for (const uint64_t value : {power - 1, power, power + 1, power * 9, power + power / 3}) {
            EXPECT_EQ(decimal(value), std::to_string(value));
        }
        power *= 10;
    }
    EXPECT_EQ(decimal(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
    for (uint64_t value = 0; value < 20'000; ++value) {
        ASSERT_EQ(decimal(value), std::to_string(value));
    }
}

TEST(ChunkSizeLine, IsLowerCaseHexadecimal) {
    EXPECT_EQ(chunk_size(0), "0\r\n");
    EXPECT_EQ(chunk_size(15), "f\r\n");
    EXPECT_EQ(chunk_size(16), "10\r\n");
    EXPECT_EQ(chunk_size(0xabcdef), "abcdef\r\n");
    EXPECT_EQ(chunk_size(65'536), "10000\r\n");
    EXPECT_EQ(chunk_size(std::numeric_limits<uint64_t>::max()), "ffffffffffffffff\r\n");
}

}  // namespace
}  // namespace millrace::http
