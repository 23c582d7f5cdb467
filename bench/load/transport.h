// How requests get to the sockets and responses from them, so that the generator need not know
// which interface of the kernel carries them.
#pragma once

#include "bench/load/connection.h"
#include "bench/load/error_kind.h"
#include "bench/load/options.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::load {

class Transport {
  public:
    // Who is told what wait() found. All of it may call flush() and drop().
    class Sink {
      public:
        virtual ~Sink() = default;
        virtual void on_wake() = 0;  // first of all, also when the time was over
        virtual void on_bytes(Connection& connection, std::string_view bytes) = 0;
        virtual void on_failure(Connection& connection, ErrorKind kind) = 0;
        // The connections that had bytes since the last call are wanted for writing now.
        virtual void on_group_end() = 0;
    };

    virtual ~Transport() = default;

    // `connection` must stay where it is until the transport is destroyed.
    virtual void add(Connection& connection) = 0;
    // Begins to write what the connection has not sent. What does not fit at once follows by
    // itself. Returns what went wrong, if that is known already.
    virtual ErrorKind flush(Connection& connection) = 0;
    // Nothing more is wanted of this connection. Must come before Connection::close().
    virtual void drop(Connection& connection) = 0;
    // Waits for events, at most `timeout_ns`, and hands them to `sink`.
    virtual void wait(int64_t timeout_ns, Sink& sink) = 0;

    virtual std::string_view name() const = 0;
};

// The transport that the options ask for, with room for `connections`. Nothing if the kernel
// refuses it; then `error` says why.
std::unique_ptr<Transport> open_transport(const Options& options, uint32_t connections,
                                          std::string& error);

}  // namespace millrace::load
