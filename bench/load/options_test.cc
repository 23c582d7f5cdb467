#include "bench/load/options.h"

#include "bench/load/json_writer.h"
#include "bench/load/request.h"

#include <gtest/gtest.h>

#include <fstream>

namespace millrace::load {
namespace {

std::optional<Options> parse(std::vector<std::string_view> arguments) {
    std::string error;
    auto options = parse_options(arguments, error);
    EXPECT_EQ(options.has_value(), error.empty());
    return options;
}

TEST(Options, have_defaults) {
    const auto options = parse({"--port", "80"});
    ASSERT_TRUE(options);
    EXPECT_EQ(options->connections, 100u);
    EXPECT_EQ(options->depth, 1u);
    EXPECT_EQ(options->refill, Refill::window);
    EXPECT_EQ(options->transport, TransportChoice::automatic);
    EXPECT_FALSE(options->cpu);
}

TEST(Options, name_a_transport) {
    EXPECT_EQ(parse({"--port", "80", "--transport", "auto"})->transport,
              TransportChoice::automatic);
    EXPECT_EQ(parse({"--port", "80", "--transport", "epoll"})->transport, TransportChoice::epoll);
    EXPECT_EQ(parse({"--port", "80", "--transport", "io_uring"})->transport,
              TransportChoice::io_uring);
}

TEST(Options, are_read) {
    const auto options =
        parse({"--port",     "80",         "--depth",       "10",   "--refill",    "batch",
               "--duration", "0.5",        "--cpu",         "1",    "--body-size", "3",
               "--header",   "a: b",       "--header",      "c: d", "--lane",      "slow,/slow,5",
               "--lane",     "deep,/,2,7", "--expect-body", "",     "--any-body"});
    ASSERT_TRUE(options);
    EXPECT_EQ(options->depth, 10u);
    EXPECT_EQ(options->refill, Refill::batch);
    EXPECT_EQ(options->duration_s, 0.5);
    EXPECT_EQ(options->cpu, 1);
    EXPECT_EQ(options->body, "aaa");
    EXPECT_EQ(options->headers, (std::vector<std::string>{"a: b", "c: d"}));
    ASSERT_EQ(options->more_lanes.size(), 2u);
    EXPECT_EQ(options->more_lanes[0].path, "/slow");
    EXPECT_EQ(options->more_lanes[0].connections, 5u);
    EXPECT_EQ(options->more_lanes[0].depth, 0u);
    EXPECT_EQ(options->more_lanes[1].depth, 7u);
    EXPECT_EQ(options->expect_body, "");
    EXPECT_TRUE(options->any_body);
}

TEST(Options, refuse_mistakes) {
    EXPECT_FALSE(parse({}));
    EXPECT_FALSE(parse({"--port"}));
    EXPECT_FALSE(parse({"--port", "65536"}));
    EXPECT_FALSE(parse({"--port", "80x"}));
    EXPECT_FALSE(parse({"--port", "80", "--depth", "0"}));
    EXPECT_FALSE(parse({"--port", "80", "--refill", "none"}));
    EXPECT_FALSE(parse({"--port", "80", "--transport", "carrier-pigeon"}));
    EXPECT_FALSE(parse({"--port", "80", "--duration", "-1"}));
    EXPECT_FALSE(parse({"--port", "80", "--header", "no colon"}));
    EXPECT_FALSE(parse({"--port", "80", "--lane", "slow,/slow"}));
    EXPECT_FALSE(parse({"--port", "80", "--lane", "slow,/slow,0"}));
    EXPECT_FALSE(parse({"--port", "80", "--surprise"}));
}

TEST(Request, is_built_from_its_parts) {
    const auto options =
        parse({"--port", "80", "--method", "POST", "--header", "x: y", "--body", "hello"});
    EXPECT_EQ(build_request(*options, "/a"),
              "POST /a HTTP/1.1\r\nHost: 127.0.0.1:80\r\nConnection: keep-alive\r\nx: y\r\n"
              "Content-Length: 5\r\n\r\nhello");
}

TEST(Request, is_read_from_a_file) {
    const std::string file = testing::TempDir() + "millrace_request";
    std::ofstream(file, std::ios::binary) << "HEAD / HTTP/1.1\r\n\r\n";
    auto options = *parse({"--port", "80"});
    options.request_file = file;
    const auto request = build_request(options, "/");
    EXPECT_EQ(request, "HEAD / HTTP/1.1\r\n\r\n");
    EXPECT_TRUE(is_head_request(*request));
    options.request_file = file + ".missing";
    EXPECT_FALSE(build_request(options, "/"));
}

TEST(JsonWriter, writes_json) {
    JsonWriter json;
    json.begin().add("text", "a\"b\\c\n").add("number", 1.5).add("count", 3u);
    json.begin_array("list").add({}, 1).begin_array().end_array().end_array();
    json.begin("object").end().end();
    EXPECT_EQ(json.text(),
              R"({"text":"a\"b\\c\u000a","number":1.5,"count":3,"list":[1,[]],"object":{}})");
}

}  // namespace
}  // namespace millrace::load
