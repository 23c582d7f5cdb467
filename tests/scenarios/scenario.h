// A server and its clients on a test network: what every scenario begins with.
#pragma once

#include "core/testing/answer_reader.h"
#include "core/testing/network.h"
#include "millrace/millrace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::scenarios {

using testing::Client;
using testing::ConnectOptions;
using testing::TestNetwork;
using testing::Transport;

// A request as it goes over the wire; `fields` are lines, each with its CR LF.
std::string request(std::string_view method, std::string_view path, std::string_view fields = {},
                    std::string_view body = {});
inline std::string get(std::string_view path, std::string_view fields = {}) {
    return request("GET", path, fields);
}
// With a Content-Length.
std::string post(std::string_view path, std::string_view body, std::string_view fields = {});
// In chunks of `chunk_bytes`.
std::string post_chunked(std::string_view path, std::string_view body, size_t chunk_bytes);

// Bytes that show a gap or a swap.
std::string pattern(size_t bytes);

// One client, and what it asked for.
class Peer {
  public:
    explicit Peer(Client client) : client_(std::move(client)) {}

    Client& operator*() { return client_; }
    Client* operator->() { return &client_; }

    // Methods of the requests, in order, where they are not all GET or POST.
    void asks(std::vector<std::string> methods) { methods_ = std::move(methods); }

    testing::AnswerStream answers();
    // In one line, as testing::summary(); "; end" or "; reset" follows the last answer.
    std::string said();

  private:
    Client client_;
    std::vector<std::string> methods_;
};

// The loop, one app on it, and the network around both.
class Site {
  public:
    explicit Site(TestNetwork& network, const ServerOptions& options = {},
                  const Loop::Options& loop_options = {});

    TestNetwork& network;
    Loop loop;
    App app;
    uint16_t port = 0;

    uint16_t listen();
    Peer connect(ConnectOptions options = {});
    // Connects and sends.
    Peer send(std::string_view bytes, ConnectOptions options = {});

    bool turn() { return loop.turn(); }
    // Turns until nothing moves.
    void settle();
    // Turns until `condition` holds; false if it never does.
    bool until(const std::function<bool()>& condition);
    // Turns until the peer has heard `expected`, or there is no hope.
    void expect_said(Peer& peer, std::string_view expected);
    // Turns until nobody is connected any more.
    void expect_all_gone();
};

class OnBoth : public ::testing::TestWithParam<Transport> {
  protected:
    // More than the network holds on the way to a peer that does not read.
    size_t more_than_buffered() const {
        return GetParam() == Transport::memory ? 400'000 : 10'000'000;
    }

    TestNetwork network{GetParam()};
};

inline auto transport_name = [](const auto& info) {
    return std::string{testing::name_of(info.param)};
};

}  // namespace millrace::scenarios

// Runs the tests of a suite on both transports.
#define MILLRACE_ON_BOTH(suite)                                                         \
    INSTANTIATE_TEST_SUITE_P(Both, suite,                                               \
                             ::testing::Values(millrace::testing::Transport::memory,    \
                                               millrace::testing::Transport::loopback), \
                             millrace::scenarios::transport_name)
// For what needs the manual clock or exact buffers.
#define MILLRACE_IN_MEMORY(suite)                                                                  \
    INSTANTIATE_TEST_SUITE_P(Only, suite, ::testing::Values(millrace::testing::Transport::memory), \
                             millrace::scenarios::transport_name)
