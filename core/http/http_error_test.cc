// Each row of the error table is what some message comes to.
#include "millrace/http_error.h"

#include "core/http/parse_outcome.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace millrace::http {
namespace {

constexpr uint32_t small_head_bytes_max = 64;

HttpLimits small_limits() {
    HttpLimits limits;
    limits.head_bytes_max = small_head_bytes_max;
    limits.fields_max = 2;
    limits.trailer_bytes_max = 8;
    limits.chunk_extension_bytes_max = 8;
    return limits;
}

// Requests whose head is refused.
const std::map<HttpError, std::string> bad_heads{
    {HttpError::bad_request_line, "GET\r\n"},
    {HttpError::bad_method, "G@T / HTTP/1.1\r\n"},
    {HttpError::bad_target, "GET a HTTP/1.1\r\n"},
    {HttpError::target_too_long, "GET /" + std::string(small_head_bytes_max, 'p')},
    {HttpError::bad_version, "GET / HTTP/1\r\n"},
    {HttpError::version_not_supported, "GET / HTTP/2.0\r\n"},
    {HttpError::bad_line_ending, "GET / HTTP/1.1\n"},
    {HttpError::bad_field_name, "GET / HTTP/1.1\r\nHost : x\r\n"},
    {HttpError::bad_field_value, "GET / HTTP/1.1\r\nHost: x\x01\r\n"},
    {HttpError::obsolete_folding, "GET / HTTP/1.1\r\nHost: x\r\n y\r\n"},
    {HttpError::head_too_large, "GET / HTTP/1.1\r\nX: " + std::string(small_head_bytes_max, 'v')},
    {HttpError::too_many_fields, "GET / HTTP/1.1\r\nHost: x\r\nA: 1\r\nB: 2\r\n"},
    {HttpError::bad_host, "GET / HTTP/1.1\r\n\r\n"},
    {HttpError::bad_content_length, "GET / HTTP/1.1\r\nContent-Length: -1\r\n"},
    {HttpError::length_conflict,
     "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding:chunked\r\n"},
    {HttpError::bad_transfer_encoding, "GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n"},
};

// Chunked bodies that are refused.
const std::map<HttpError, std::string> bad_bodies{
    {HttpError::bad_chunk_size, "x\r\n"},
    {HttpError::bad_chunk_ending, "1\r\nxy"},
    {HttpError::bad_chunk_extension, "1;\r\n"},
    {HttpError::chunk_overhead, "1;a=567890\r\n"},
    {HttpError::bad_trailer, "0\r\nHost: x\r\n\r\n"},
    {HttpError::trailers_too_large, "0\r\nX: 456789\r\n\r\n"},
};

TEST(HttpErrors, EachParseErrorIsTheOutcomeOfAMessage) {
    HttpLimits limits = small_limits();
    for (const HttpErrorInfo& row : http_errors) {
        SCOPED_TRACE(row.name);
        if (row.error == HttpError::none || row.error == HttpError::head_timeout) continue;
        // The line that holds both lengths does not fit the small limit.
        limits.head_bytes_max =
            row.error == HttpError::length_conflict ? 128 : small_head_bytes_max;
        const auto head = bad_heads.find(row.error);
        const auto body = bad_bodies.find(row.error);
        ASSERT_TRUE(head != bad_heads.end() || body != bad_bodies.end()) << "no message for it";
        if (head != bad_heads.end()) {
            EXPECT_EQ(info(head_of(head->second, limits).error).name, row.name);
        }
        if (body != bad_bodies.end()) {
            EXPECT_EQ(info(chunked_body_of(body->second, limits).error).name, row.name);
        }
    }
}

TEST(HttpErrors, RowsHaveAStatusANameAndAText) {
    for (const HttpErrorInfo& row : http_errors) {
        if (row.error == HttpError::none) continue;
        EXPECT_TRUE(row.status >= 400 && row.status < 600) << row.name;
        EXPECT_FALSE(row.name.empty());
        EXPECT_FALSE(row.text.empty()) << row.name;
    }
}

}  // namespace
}  // namespace millrace::http
