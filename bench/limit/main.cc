// millrace-limit [--port N] [--grouped]: serves the canned answer until SIGTERM or SIGINT.
#include "bench/limit/canned_server.h"

#include <signal.h>

#include <charconv>
#include <cstdio>
#include <string_view>

using millrace::limit::CannedServer;

namespace {
CannedServer* running = nullptr;

void on_signal(int) { running->stop(); }
}  // namespace

int main(int argc, char** argv) {
    uint16_t port = 0;
    auto sends = CannedServer::Sends::each;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--grouped") {
            sends = CannedServer::Sends::grouped;
            continue;
        }
        const std::string_view value = i + 1 < argc ? argv[++i] : "";
        const auto [end, failure] =
            std::from_chars(value.data(), value.data() + value.size(), port);
        if (name != "--port" || failure != std::errc() || *end != '\0') {
            std::fprintf(stderr, "usage: millrace-limit [--port N] [--grouped]\n");
            return 2;
        }
    }
    CannedServer server(port, sends);
    if (server.port() == 0) {
        std::fprintf(stderr, "cannot listen on port %d\n", port);
        return 1;
    }
    if (!server.can_send()) {
        std::fprintf(stderr, "this kernel or container does not allow io_uring\n");
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
