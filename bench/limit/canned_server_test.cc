#include "bench/limit/canned_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace millrace::limit {
namespace {

size_t count_slowly(std::string_view bytes) {
    size_t count = 0;
    for (size_t at = 0; at < bytes.size(); ++at)
        count += bytes.substr(at).starts_with("\r\n\r\n");
    return count;
}

TEST(CountRequestEnds, finds_every_end_at_every_place) {
    for (size_t size = 0; size < 300; ++size) {
        for (size_t at = 0; at + 4 <= size; ++at) {
            std::string bytes(size, 'x');
            bytes.replace(at, 4, "\r\n\r\n");
            EXPECT_EQ(count_request_ends(bytes), 1u) << size << " " << at;
        }
        EXPECT_EQ(count_request_ends(std::string(size, '\r')), 0u);
    }
}

TEST(CountRequestEnds, agrees_with_the_definition) {
    std::string bytes;
    for (int i = 0; i < 500; ++i) {
        bytes += std::string(static_cast<size_t>(i * 7 % 41), 'a') + (i % 3 == 0 ? "\r\n" : "");
        bytes += "\r\n\r\n";
    }
    EXPECT_EQ(count_request_ends(bytes), count_slowly(bytes));
}

class Served : public testing::TestWithParam<CannedServer::Sends> {
  protected:
    Served()
        : server_(0, GetParam()),
          thread_([this] { server_.run(); }),
          fd_(socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(server_.port());
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const timeval patience{.tv_sec = 10, .tv_usec = 0};
        setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    ~Served() override {
        close(fd_);
        server_.stop();
        thread_.join();
    }

    void say(std::string_view bytes) {
        ASSERT_EQ(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(bytes.size()));
    }
    std::string hear(size_t bytes) {
        std::string heard(bytes, '\0');
        // Closing the ring of the server before interrupts this thread once.
        const ssize_t got = TEMP_FAILURE_RETRY(recv(fd_, heard.data(), bytes, MSG_WAITALL));
        heard.resize(got < 0 ? 0 : static_cast<size_t>(got));
        return heard;
    }

    CannedServer server_;
    std::thread thread_;
    int fd_;
};

// Where io_uring is forbidden, a group is sent one by one.
INSTANTIATE_TEST_SUITE_P(Both, Served,
                         testing::Values(CannedServer::Sends::each, CannedServer::Sends::grouped));

constexpr size_t response_bytes = 119;

TEST_P(Served, answers_with_the_canned_response) {
    say("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::string heard = hear(response_bytes);
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nDate: "));
    EXPECT_TRUE(heard.ends_with(" GMT\r\nContent-Length: 11\r\n\r\n{\"ok\":true}"));
}

TEST_P(Served, answers_pipelined_requests_each_once) {
    std::string requests;
    for (int i = 0; i < 100; ++i)
        requests += "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    say(requests);
    EXPECT_EQ(hear(100 * response_bytes).size(), 100 * response_bytes);
}

TEST_P(Served, finds_an_end_that_comes_in_pieces) {
    for (const char& byte : std::string("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
        say({&byte, 1});
    EXPECT_EQ(hear(response_bytes).size(), response_bytes);
    say("GET / HTTP/1.1\r\n\r");
    say("\n");
    EXPECT_EQ(hear(response_bytes).size(), response_bytes);
}

}  // namespace
}  // namespace millrace::limit
