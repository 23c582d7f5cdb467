// Limits and timeouts of an HTTP server, each with its unit and its default, in one place.
//
//     millrace::HttpLimits limits;
//     limits.head_bytes_max = 32 * 1024;
//     millrace::App app{loop, {.limits = limits}};
#pragma once

#include <cstdint>

namespace millrace {

struct HttpLimits {
    // --- Sizes -----------------------------------------------------------------------------------

    // Request line, all field lines and the empty line, in bytes. Over it: 431 (414 if the request
    // line alone is over it). 64 to 16 MiB, and at least 17 KiB less than a Loop's receive_arena.
    uint32_t head_bytes_max = 16 * 1024;

    // Field lines of a request head. Over it: 431. 1 to 65535.
    uint32_t fields_max = 100;

    // Chunk extensions of one message, in bytes, all chunks together. Over it: 400.
    uint32_t chunk_extension_bytes_max = 16 * 1024;

    // Trailer section of one message, in bytes. Over it: 431.
    uint32_t trailer_bytes_max = 8 * 1024;

    // Framing bytes that a chunked body may cost beyond a fixed allowance of 16 KiB, in percent of
    // the data bytes. Bounds a body of one-byte chunks. Over it: 400.
    uint32_t chunk_overhead_percent_max = 600;

    // Body bytes that the engine holds for an exchange whose body nobody reads yet. Over it, the
    // engine stops reading the socket until somebody does.
    uint32_t body_hold_bytes_max = 64 * 1024;

    // Body bytes that the engine reads and drops, after the response is complete, to be able to
    // reuse the connection. Over it the connection is closed.
    uint32_t body_discard_bytes_max = 1024 * 1024;

    // Requests of one connection that may wait for their response. Over it the engine stops reading
    // the socket until a response has been written. 1 to 65535.
    uint32_t pipeline_max = 32;

    // --- Times -----------------------------------------------------------------------------------

    // From the first byte of a request (or from the accept) to the end of its head, in
    // milliseconds. Progress does not extend it. Over it: 408 if any byte came, else a bare close.
    uint32_t head_timeout_ms = 10'000;

    // Between two reads of a request body, in milliseconds. Only runs while the engine wants to
    // read. Over it: the exchange is aborted and the connection closed.
    uint32_t body_idle_timeout_ms = 30'000;

    // From the end of a response to the first byte of the next request, in milliseconds. Longer
    // than what common load balancers keep an idle connection (60 s), so that they close first.
    uint32_t keep_alive_timeout_ms = 72'000;

    // With response bytes waiting, how long the peer may accept none of them, in milliseconds.
    // Over it: the exchange is aborted and the connection closed.
    uint32_t write_stall_timeout_ms = 30'000;

    // After an answer that closes the connection, how long the engine reads and drops what still
    // arrives so that the peer can read the answer before a reset, in milliseconds.
    uint32_t linger_timeout_ms = 2'000;
};

}  // namespace millrace
