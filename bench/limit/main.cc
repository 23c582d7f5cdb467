// millrace-limit [--port N]: serves the canned answer until SIGTERM or SIGINT.
#include "bench/limit/canned_server.h"

#include <signal.h>

#include <charconv>
#include <cstdio>
#include <string_view>

namespace {
millrace::limit::CannedServer* running = nullptr;

void on_signal(int) { running->stop(); }
}  // namespace

int main(int argc, char** argv) {
    uint16_t port = 0;
    for (int i = 1; i < argc; i += 2) {
        const std::string_view value = i + 1 < argc ? argv[i + 1] : "";
        const auto [end, failure] =
            std::from_chars(value.data(), value.data() + value.size(), port);
        if (std::string_view(argv[i]) != "--port" || failure != std::errc() || *end != '\0') {
            std::fprintf(stderr, "usage: millrace-limit [--port N]\n");
            return 2;
        }
    }
    millrace::limit::CannedServer server(port);
    if (server.port() == 0) {
        std::fprintf(stderr, "cannot listen on port %d\n", port);
        return 1;
    }
    running = &server;
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGINT, &action, nullptr);
    std::printf("listening on %d\n", server.port());
    std::fflush(stdout);
    server.run();
    return 0;
}
