#include "bench/load/options.h"

#include <array>
#include <charconv>
#include <functional>
#include <limits>

namespace millrace::load {
namespace {

template <class Number>
bool read_number(std::string_view text, Number& number) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failure == std::errc() && end == text.data() + text.size();
}

bool read_positive(std::string_view text, uint32_t& number) {
    return read_number(text, number) && number > 0 && number <= 1'000'000;
}

bool read_seconds(std::string_view text, double& seconds) {
    return read_number(text, seconds) && seconds >= 0 && seconds <= 86'400;
}

bool read_refill(std::string_view text, Refill& refill) {
    if (text != "window" && text != "batch") return false;
    refill = text == "window" ? Refill::window : Refill::batch;
    return true;
}

bool read_transport(std::string_view text, TransportChoice& transport) {
    if (text == "auto") return transport = TransportChoice::automatic, true;
    if (text == "epoll") return transport = TransportChoice::epoll, true;
    if (text == "io_uring") return transport = TransportChoice::io_uring, true;
    return false;
}

// NAME,PATH,CONNECTIONS[,DEPTH]
bool read_lane(std::string_view text, std::vector<LaneOptions>& lanes) {
    std::array<std::string_view, 4> parts;
    size_t count = 0;
    while (count < parts.size()) {
        const size_t comma = text.find(',');
        parts[count++] = text.substr(0, comma);
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
    }
    LaneOptions lane{.name = std::string(parts[0]), .path = std::string(parts[1])};
    const bool fine = count >= 3 && !parts[0].empty() &&
                      read_positive(parts[2], lane.connections) &&
                      (count < 4 || read_positive(parts[3], lane.depth));
    if (fine) lanes.push_back(lane);
    return fine;
}

using Read = std::function<bool(Options&, std::string_view)>;
struct Option {
    std::string_view name;
    Read read;
};

Read text_into(std::string Options::*member) {
    return [member](Options& options, std::string_view text) {
        options.*member = text;
        return !text.empty();
    };
}

Read seconds_into(double Options::*member) {
    return [member](Options& o, std::string_view text) { return read_seconds(text, o.*member); };
}

Read count_into(uint32_t Options::*member) {
    return [member](Options& o, std::string_view text) { return read_positive(text, o.*member); };
}

template <class Number>
Read number_into(Number Options::*member) {
    return [member](Options& o, std::string_view text) { return read_number(text, o.*member); };
}

template <class Number>
Read maybe_number_into(std::optional<Number> Options::*member) {
    return [member](Options& o, std::string_view text) {
        return read_number(text, (o.*member).emplace());
    };
}

const std::vector<Option>& options_with_value() {
    static const std::vector<Option> options{
        {"--host", text_into(&Options::host)},
        {"--port", number_into(&Options::port)},
        {"--connections", count_into(&Options::connections)},
        {"--depth", count_into(&Options::depth)},
        {"--refill", [](Options& o, std::string_view t) { return read_refill(t, o.refill); }},
        {"--transport",
         [](Options& o, std::string_view t) { return read_transport(t, o.transport); }},
        {"--warmup", seconds_into(&Options::warmup_s)},
        {"--duration", seconds_into(&Options::duration_s)},
        {"--timeout", seconds_into(&Options::timeout_s)},
        {"--requests", number_into(&Options::requests)},
        {"--cpu", maybe_number_into(&Options::cpu)},
        {"--pid", number_into(&Options::pid)},
        {"--method", text_into(&Options::method)},
        {"--path", text_into(&Options::path)},
        {"--header",
         [](Options& o, std::string_view t) {
             o.headers.emplace_back(t);
             return t.find(':') != std::string_view::npos;
         }},
        {"--body", text_into(&Options::body)},
        {"--body-size",
         [](Options& o, std::string_view t) {
             uint32_t size = 0;
             const bool fine = read_number(t, size) && size <= 64u * 1024 * 1024;
             if (fine) o.body.assign(size, 'a');
             return fine;
         }},
        {"--request-file", text_into(&Options::request_file)},
        {"--expect-status", number_into(&Options::expect_status)},
        {"--expect-body",
         [](Options& o, std::string_view t) {
             o.expect_body = t;
             return true;
         }},
        {"--expect-body-size", maybe_number_into(&Options::expect_body_size_bytes)},
        {"--lane", [](Options& o, std::string_view t) { return read_lane(t, o.more_lanes); }},
        {"--idle", count_into(&Options::idle)},
        {"--hold", seconds_into(&Options::hold_s)},
        {"--json", text_into(&Options::json)},
    };
    return options;
}

bool read_flag(std::string_view name, Options& options) {
    if (name == "--any-body") return options.any_body = true;
    if (name == "--self-test") return options.self_test = true;
    if (name == "--help") return options.help = true;
    return false;
}

}  // namespace

std::optional<Options> parse_options(std::span<const std::string_view> arguments,
                                     std::string& error) {
    Options options;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view name = arguments[i];
        if (read_flag(name, options)) continue;
        const Option* known = nullptr;
        for (const Option& option : options_with_value()) {
            if (option.name == name) known = &option;
        }
        if (known == nullptr) {
            error = "unknown option: " + std::string(name);
            return std::nullopt;
        }
        if (++i == arguments.size() || !known->read(options, arguments[i])) {
            error = "missing or wrong value: " + std::string(name);
            return std::nullopt;
        }
    }
    if (options.port == 0 && !options.self_test && !options.help) {
        error = "--port is needed";
        return std::nullopt;
    }
    return options;
}

std::string_view options_help() {
    return R"(millrace-load: a closed-loop HTTP/1.1 load generator that validates every response

  --port N [--host A]      the server (IPv4 address, default 127.0.0.1)
  --connections N          default 100
  --depth K                requests in flight on each connection, default 1
  --refill window|batch    each response releases one request (default), or K at a time
  --transport NAME         io_uring, epoll, or auto (default): the first that works
  --warmup S --duration S  default 1 and 5 seconds
  --requests N             send exactly N requests, without warm-up
  --timeout S              of one request, default 10 seconds
  --cpu N                  pin this process
  --pid N                  measure CPU time and memory of this server process
  --method M --path P --header 'name: value' --body TEXT --body-size N
  --request-file FILE      raw bytes of one request
  --expect-status N --expect-body TEXT --expect-body-size N --any-body
  --lane NAME,PATH,CONNECTIONS[,DEPTH]   another path on connections of its own
  --idle N [--hold S]      open N idle connections and report the server's memory for each
  --json FILE              write the result as JSON ('-': standard output)
  --self-test              measure this machine against a canned server
)";
}

}  // namespace millrace::load
