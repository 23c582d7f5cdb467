// The command line of millrace-load.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::load {

// When requests are sent again in the closed loop.
enum class Refill : uint8_t {
    window,  // each response releases one request
    batch,   // `depth` requests at once, then wait for all their responses
};

// What carries the bytes.
enum class TransportChoice : uint8_t {
    automatic,  // io_uring where the kernel lets us have it, otherwise epoll
    epoll,
    io_uring,
};

// Requests that have connections and a histogram of their own.
struct LaneOptions {
    std::string name{};
    std::string path{};
    uint32_t connections = 0;
    uint32_t depth = 0;
};

struct Options {
    std::string host = "127.0.0.1";  // an IPv4 address
    uint16_t port = 0;
    uint32_t connections = 100;
    uint32_t depth = 1;
    Refill refill = Refill::window;
    TransportChoice transport = TransportChoice::automatic;
    double warmup_s = 1;
    double duration_s = 5;
    double timeout_s = 10;   // of one request
    uint64_t requests = 0;   // when not 0: stop after exactly so many, without warm-up
    std::optional<int> cpu;  // pin this process to it
    int pid = 0;             // the server, whose CPU time and memory are measured

    std::string method = "GET";
    std::string path = "/";
    std::vector<std::string> headers;  // "name: value"
    std::string body;
    std::string request_file;  // raw bytes of one request, instead of the five fields above

    int expect_status = 200;
    std::optional<std::string> expect_body;  // default: the body of the first response
    std::optional<uint64_t> expect_body_size_bytes;
    bool any_body = false;

    std::vector<LaneOptions> more_lanes;
    uint32_t idle = 0;  // hold so many idle connections instead of loading the server
    double hold_s = 1;
    bool self_test = false;
    bool help = false;
    std::string json;  // a file, or "-" for standard output
};

// On failure returns nothing and says why in `error`.
std::optional<Options> parse_options(std::span<const std::string_view> arguments,
                                     std::string& error);

// Text for --help.
std::string_view options_help();

}  // namespace millrace::load
