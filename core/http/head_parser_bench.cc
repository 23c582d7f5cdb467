// What a head costs, and a chunked body. Run: http_bench
#include "core/http/body_framing.h"
#include "core/http/head_parser.h"

#include <benchmark/benchmark.h>

#include <array>
#include <cstdio>
#include <string>

namespace millrace::http {
namespace {

constexpr std::string_view small_head =
    "GET / HTTP/1.1\r\nHost: 127.0.0.1:3000\r\nConnection: keep-alive\r\n\r\n";

constexpr std::string_view browser_head =
    "GET /api/v1/items?limit=10&offset=20 HTTP/1.1\r\n"
    "Host: www.example.com\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/120.0 Safari/537.36\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8\r\n"
    "Accept-Encoding: gzip, deflate, br\r\n"
    "Accept-Language: en-US,en;q=0.5\r\n"
    "Cookie: session=abcdef0123456789abcdef0123456789; theme=dark\r\n"
    "Connection: keep-alive\r\n\r\n";

void parse_heads(benchmark::State& state, std::string_view head) {
    const std::string padded = std::string{head} + std::string(scan_padding_bytes, '\0');
    const PaddedBytes received = PaddedBytes::promise(padded.data(), head.size());
    const HttpLimits limits;
    std::array<Field, 100> storage;
    for (auto _ : state) {
        RequestHead parsed;
        benchmark::DoNotOptimize(parse_head(received, limits, storage, parsed));
        benchmark::DoNotOptimize(parsed);
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(head.size()));
}

void decode_chunks(benchmark::State& state) {
    const auto chunk_bytes = static_cast<size_t>(state.range(0));
    std::string body;
    for (size_t chunk = 0; chunk < 16; ++chunk) {
        std::array<char, 17> digits;
        std::snprintf(digits.data(), digits.size(), "%zx", chunk_bytes);
        body += digits.data() + ("\r\n" + std::string(chunk_bytes, 'x') + "\r\n");
    }
    body += "0\r\n\r\n";
    RequestHead head;
    head.body = BodyKind::chunked;
    const HttpLimits limits;
    for (auto _ : state) {
        BodyDecoder decoder;
        decoder.start(head);
        std::string_view left = body;
        while (!decoder.is_complete()) {
            const BodyDecoder::Step step = decoder.next(left, limits);
            left.remove_prefix(step.consumed_bytes);
            benchmark::DoNotOptimize(step);
        }
    }
    state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
}

BENCHMARK_CAPTURE(parse_heads, small, small_head);
BENCHMARK_CAPTURE(parse_heads, browser, browser_head);
BENCHMARK(decode_chunks)->Arg(16)->Arg(1024)->Arg(16 * 1024);

}  // namespace
}  // namespace millrace::http
