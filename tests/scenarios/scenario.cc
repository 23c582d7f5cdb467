#include "tests/scenarios/scenario.h"

#include <algorithm>

namespace millrace::scenarios {

std::string request(std::string_view method, std::string_view path, std::string_view fields,
                    std::string_view body) {
    std::string wire{method};
    wire.append(" ").append(path).append(" HTTP/1.1\r\nHost: x\r\n");
    wire.append(fields).append("\r\n").append(body);
    return wire;
}

std::string post(std::string_view path, std::string_view body, std::string_view fields) {
    const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return request("POST", path, length + std::string{fields}, body);
}

std::string post_chunked(std::string_view path, std::string_view body, size_t chunk_bytes) {
    std::string chunks;
    for (size_t at = 0; at < body.size(); at += chunk_bytes) {
        const std::string_view chunk = body.substr(at, chunk_bytes);
        char size[20];
        snprintf(size, sizeof size, "%zx\r\n", chunk.size());
        chunks.append(size).append(chunk).append("\r\n");
    }
    return request("POST", path, "Transfer-Encoding: chunked\r\n", chunks + "0\r\n\r\n");
}

std::string pattern(size_t bytes) {
    std::string text;
    text.reserve(bytes + 16);
    for (size_t number = 0; text.size() < bytes; ++number)
        text.append(std::to_string(number)).append(",");
    text.resize(bytes);
    return text;
}

testing::AnswerStream Peer::answers() {
    const bool has_ended = client_.has_ended() || client_.was_reset();
    return testing::read_answers(client_.received(), methods_, has_ended);
}

std::string Peer::said() {
    std::string line = testing::summary(answers());
    const char* const ending = client_.was_reset() ? "reset" : client_.has_ended() ? "end" : "";
    if (*ending != 0 && !line.empty()) line += "; ";
    return line + ending;
}

Site::Site(TestNetwork& on, const ServerOptions& options, const Loop::Options& loop_options)
    : network(on), loop(loop_options), app(loop, options) {}

uint16_t Site::listen() { return port = app.listen({.host = "127.0.0.1"}); }

Peer Site::connect(ConnectOptions options) {
    if (port == 0) listen();
    Peer peer{network.connect(port, options)};
    EXPECT_TRUE(peer->is_connected());
    return peer;
}

Peer Site::send(std::string_view bytes, ConnectOptions options) {
    Peer peer = connect(options);
    peer->send(bytes);
    return peer;
}

void Site::settle() {
    EXPECT_TRUE(network.settle([&] { return turn(); }));
}

bool Site::until(const std::function<bool()>& condition) {
    return network.settle_until([&] { return turn(); }, condition);
}

void Site::expect_said(Peer& peer, std::string_view expected) {
    // Up to its ending, the line is shorter than what it is made of.
    constexpr size_t ending_bytes = 8;
    until([&] {
        return peer->received().size() + ending_bytes >= expected.size() && peer.said() == expected;
    });
    EXPECT_EQ(peer.said(), expected);
}

void Site::expect_all_gone() {
    EXPECT_TRUE(until([&] { return app.stats().connections == 0; }));
}

}  // namespace millrace::scenarios
