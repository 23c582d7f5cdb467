#include "core/server/response_head.h"

#include "core/server/date_line.h"

#include <gtest/gtest.h>

namespace millrace::server {
namespace {

std::string text_of(const ResponseHead& head) {
    std::string text{head.first_line()};
    text += head.fields.view();
    EXPECT_EQ(head.size(), text.size());
    return text;
}

TEST(ResponseHead, TheDefaultIs200) {
    ResponseHead head;
    EXPECT_EQ(text_of(head), "HTTP/1.1 200 OK\r\n");
    EXPECT_TRUE(head.is_success());
    head.add_field("a", "b");
    EXPECT_EQ(text_of(head), "HTTP/1.1 200 OK\r\na: b\r\n");
}

TEST(ResponseHead, Statuses) {
    ResponseHead head;
    head.add_field("a", "b");
    head.set_status("404");
    EXPECT_EQ(text_of(head), "HTTP/1.1 404 Not Found\r\na: b\r\n");
    EXPECT_EQ(head.status, 404);
    EXPECT_FALSE(head.is_success());
    head.set_status("299 Own words");
    EXPECT_EQ(text_of(head), "HTTP/1.1 299 Own words\r\na: b\r\n");
    EXPECT_TRUE(head.is_success());
    head.set_status("799");
    EXPECT_EQ(head.first_line(), "HTTP/1.1 799 \r\n");
}

TEST(ResponseHead, FieldsThatTheEngineLooksAt) {
    ResponseHead head;
    head.add_field("DATE", "now");
    EXPECT_TRUE(head.has_date);
    head.add_field("Connection", "keep-alive, x");
    EXPECT_TRUE(head.has_connection);
    EXPECT_FALSE(head.closes);
    head.add_field("connection", "x, Close");
    EXPECT_TRUE(head.closes);
    head.add_field("Content-Length", "0042");
    EXPECT_EQ(head.declared_length, 42u);
    head.add_field("Transfer-Encoding", "chunked");
    EXPECT_EQ(text_of(head),
              "HTTP/1.1 200 OK\r\nDATE: now\r\nConnection: keep-alive, x\r\nconnection: x, "
              "Close\r\n");
    for (const char* wrong : {"", "x", "1x", "-1", "12345678901234567"}) {
        head.add_field("content-length", wrong);
        EXPECT_EQ(head.declared_length, std::nullopt) << wrong;
    }
}

TEST(ResponseHead, ClearForgetsEverything) {
    ResponseHead head;
    head.set_status("500");
    for (const char* name : {"Date", "Connection", "Content-Length", "Other"})
        head.add_field(name, "close");
    head.clear();
    EXPECT_EQ(text_of(head), "HTTP/1.1 200 OK\r\n");
    EXPECT_FALSE(head.has_date || head.has_connection || head.closes || head.declared_length);
}

TEST(ResponseHead, ManyLongFields) {
    ResponseHead head;
    std::string expected;
    for (int count = 0; count < 200; ++count) {
        const std::string value(static_cast<size_t>(count), 'v');
        head.add_field("name", value);
        expected += "name: " + value + "\r\n";
    }
    EXPECT_EQ(head.fields.view(), expected);
    const ResponseHead copy = head;
    head.clear();
    EXPECT_EQ(copy.fields.view(), expected);
}

TEST(DateLine, IsRenderedAnewWhenTheSecondChanges) {
    const auto text = [](const DateLine& line) {
        return std::string_view{line.data(), DateLine::bytes};
    };
    DateLine line;
    line.refresh(784'111'777);
    EXPECT_EQ(text(line), "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
    line.refresh(784'111'777);
    line.refresh(784'111'778);
    EXPECT_EQ(text(line), "Date: Sun, 06 Nov 1994 08:49:38 GMT\r\n");
    line.refresh(0);
    EXPECT_EQ(text(line), "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n");
}

}  // namespace
}  // namespace millrace::server
