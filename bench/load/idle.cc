#include "bench/load/idle.h"

#include "bench/load/clock.h"
#include "bench/load/process_probe.h"
#include "bench/load/socket.h"

#include <errno.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

namespace millrace::load {
namespace {

ErrorKind open_one(const Options& options, const Lane& lane, std::vector<Fd>& held) {
    Fd fd = connect_to(options);
    if (!fd.open()) return ErrorKind::connect;
    ResponseParser parser(lane.expected);
    parser.begin();
    const ErrorKind error = ask_once(fd.get(), lane.request, parser);
    if (error == ErrorKind::none) held.push_back(std::move(fd));
    return error;
}

// A connection that the server closed, or on which it said more, was not idle.
ErrorKind check_held(const Fd& fd) {
    char byte;
    const ssize_t got = recv(fd.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got == 0) return ErrorKind::disconnect;
    if (got > 0) return ErrorKind::protocol;
    return errno == EAGAIN ? ErrorKind::none : ErrorKind::read;
}

void hold(const Options& options) {
    std::this_thread::sleep_for(std::chrono::duration<double>(options.hold_s));
}

}  // namespace

IdleResult run_idle(const Options& options, const Lane& lane) {
    IdleResult result;
    raise_descriptor_limit(uint64_t{options.idle} + 64);
    std::vector<Fd> held;
    held.reserve(options.idle);
    hold(options);
    result.rss_before_bytes = sample_memory(options.pid).rss_bytes;
    const int64_t begin_ns = monotonic_ns();
    while (held.size() < options.idle) {
        const ErrorKind error = open_one(options, lane, held);
        if (error == ErrorKind::none) continue;
        result.errors.add(error);
        break;
    }
    result.open_ns = monotonic_ns() - begin_ns;
    // Whoever watches the server may look at it from now on, for options.hold_s.
    std::fprintf(stderr, "holding %zu connections\n", held.size());
    hold(options);
    result.rss_idle_bytes = sample_memory(options.pid).rss_bytes;
    for (const Fd& fd : held) {
        const ErrorKind error = check_held(fd);
        if (error != ErrorKind::none) result.errors.add(error);
    }
    result.connections = held.size();
    held.clear();
    hold(options);
    result.rss_after_bytes = sample_memory(options.pid).rss_bytes;
    return result;
}

}  // namespace millrace::load
