// Serves requests with the installed library, asks once over loopback, and says whether the answer
// was right. Only the public header and the system are known here.
#include <millrace/millrace.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>

namespace {

// The whole answer to `request`, until the server closes; empty if there is no connection.
std::string ask(uint16_t port, const std::string& request) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::string answer;
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
        send(fd, request.data(), request.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(request.size())) {
        char piece[4096];
        for (ssize_t bytes = 0; (bytes = recv(fd, piece, sizeof(piece), 0)) > 0;)
            answer.append(piece, static_cast<size_t>(bytes));
    }
    close(fd);
    return answer;
}

bool is_right(const std::string& answer) {
    return answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nHello, stranger");
}

}  // namespace

int main() {
    millrace::Loop loop;
    millrace::App app{loop};
    app.get("/hello/:name", [](millrace::Response& response, millrace::Request& request) {
        response.header("content-type", "text/plain");
        response.end("Hello, " + std::string(*request.parameter("name")));
    });
    const uint16_t port = app.listen({.host = "127.0.0.1", .port = 0});

    std::string answer;
    std::thread client([&] {
        answer =
            ask(port, "GET /hello/stranger HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n");
        loop.stop();
    });
    loop.run();
    client.join();
    app.close();

    std::printf("%s\n%s\n", answer.c_str(), is_right(answer) ? "right" : "wrong");
    return is_right(answer) ? 0 : 1;
}
