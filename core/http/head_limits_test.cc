// Both sides of each limit on request heads.
#include "core/http/head_parser.h"
#include "core/http/parse_outcome.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::http {
namespace {

std::string head_with_fields(size_t count) {
    std::string head = "GET / HTTP/1.1\r\nHost: x\r\n";
    for (size_t field = 1; field < count; ++field) {
        head += "X" + std::to_string(field) + ": 1\r\n";
    }
    return head + "\r\n";
}

// A head of exactly `size` bytes.
std::string head_of_size(size_t size) {
    const std::string begin = "GET / HTTP/1.1\r\nHost: x\r\nX: ";
    const std::string end = "\r\n\r\n";
    return begin + std::string(size - begin.size() - end.size(), 'v') + end;
}

// A request line of exactly `size` bytes with its CR LF.
std::string line_of_size(size_t size) {
    const std::string begin = "GET /";
    const std::string end = " HTTP/1.1\r\n";
    return begin + std::string(size - begin.size() - end.size(), 'p') + end;
}

TEST(HeadLimits, FieldsMax) {
    for (const uint32_t most : {1U, 2U, 10U, 100U}) {
        HttpLimits limits;
        limits.fields_max = most;
        EXPECT_EQ(head_of(head_with_fields(most), limits).fields.size(), most);
        const HeadOutcome over = head_of(head_with_fields(most + 1), limits);
        EXPECT_EQ(over.verdict, Verdict::rejected);
        EXPECT_EQ(over.error, HttpError::too_many_fields);
    }
}

TEST(HeadLimits, FieldsMaxActsOnTheFirstByteOfAField) {
    HttpLimits limits;
    limits.fields_max = 1;
    const std::string seen = "GET / HTTP/1.1\r\nHost: x\r\n";
    EXPECT_EQ(head_of(seen, limits).verdict, Verdict::need_more);
    EXPECT_EQ(head_of(seen + "X", limits).error, HttpError::too_many_fields);
}

TEST(HeadLimits, HeadBytesMax) {
    for (const uint32_t most : {64U, 65U, 200U, 1000U, 16U * 1024}) {
        HttpLimits limits;
        limits.head_bytes_max = most;
        EXPECT_EQ(head_of(head_of_size(most), limits).verdict, Verdict::complete) << most;
        const HeadOutcome over = head_of(head_of_size(most + 1), limits);
        EXPECT_EQ(over.verdict, Verdict::rejected) << most;
        EXPECT_EQ(info(over.error).name, "head_too_large") << most;
    }
}

TEST(HeadLimits, HeadBytesMaxDoesNotCountWhatFollows) {
    HttpLimits limits;
    limits.head_bytes_max = 64;
    EXPECT_EQ(head_of(head_of_size(64) + std::string(100, 'b'), limits).verdict, Verdict::complete);
}

TEST(HeadLimits, RejectsWhenTheLimitIsReachedWithoutAnEnd) {
    HttpLimits limits;
    limits.head_bytes_max = 64;
    const std::string head = head_of_size(80);
    EXPECT_EQ(head_of(head.substr(0, 63), limits).verdict, Verdict::need_more);
    EXPECT_EQ(head_of(head.substr(0, 64), limits).error, HttpError::head_too_large);
}

TEST(HeadLimits, RequestLineAloneOverTheLimit) {
    HttpLimits limits;
    limits.head_bytes_max = 64;
    EXPECT_EQ(head_of(line_of_size(64) + "Host: x\r\n\r\n", limits).error,
              HttpError::head_too_large);
    EXPECT_EQ(head_of(line_of_size(65) + "Host: x\r\n\r\n", limits).error,
              HttpError::target_too_long);
    EXPECT_EQ(head_of(line_of_size(300) + "Host: x\r\n\r\n", limits).error,
              HttpError::target_too_long);
}

TEST(HeadLimits, EmptyLinesCountAsHeadBytes) {
    HttpLimits limits;
    limits.head_bytes_max = 64;
    const std::string head = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    std::string lines;
    while (lines.size() + head.size() + 2 <= 64) {
        lines += "\r\n";
    }
    EXPECT_EQ(head_of(lines + head, limits).verdict, Verdict::complete);
    EXPECT_EQ(head_of(lines + "\r\n" + head, limits).error, HttpError::head_too_large);
    std::string only_lines;
    for (int line = 0; line < 32; ++line) {
        only_lines += "\r\n";
    }
    EXPECT_EQ(head_of(only_lines, limits).error, HttpError::head_too_large);
    EXPECT_EQ(head_of(only_lines.substr(2), limits).verdict, Verdict::need_more);
}

TEST(HeadLimits, LongTargetsAndValuesFitTheDefault) {
    const std::string head = "GET /" + std::string(10'000, 'p') +
                             " HTTP/1.1\r\nHost: x\r\nX: " + std::string(5'000, 'v') + "\r\n\r\n";
    EXPECT_EQ(head_of(head).verdict, Verdict::complete);
}

}  // namespace
}  // namespace millrace::http
