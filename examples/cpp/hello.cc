// The smallest server: one route, one answer. Usage: hello [--port N]
#include <millrace/millrace.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
    uint16_t port = 3000;
    for (int index = 1; index + 1 < argc; ++index)
        if (std::strcmp(argv[index], "--port") == 0)
            port = static_cast<uint16_t>(std::atoi(argv[index + 1]));

    millrace::Loop loop;
    millrace::App app{loop};
    app.get("/", [](millrace::Response& response, millrace::Request&) {
        response.header("content-type", "application/json").end(R"({"ok":true})");
    });
    std::printf("listening on %u\n", app.listen({.host = "127.0.0.1", .port = port}));
    std::fflush(stdout);
    loop.run();
}
