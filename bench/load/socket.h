// Connecting, and one request on a connection of its own.
#pragma once

#include "bench/load/options.h"
#include "bench/load/response_parser.h"

#include <string>
#include <string_view>

namespace millrace::load {

// An owned file descriptor.
class Fd {
  public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(other.release()) {}
    Fd& operator=(Fd&& other) noexcept;
    ~Fd() { reset(); }

    int get() const { return fd_; }
    bool open() const { return fd_ >= 0; }
    void reset();

  private:
    int release();
    int fd_ = -1;
};

// A blocking socket connected within the request timeout, or a closed Fd.
Fd connect_to(const Options& options);

void set_non_blocking(int fd);

// Lets this process hold at least `count` descriptors. False if the system does not allow it.
bool raise_descriptor_limit(uint64_t count);

// Sends `request` on a blocking socket and reads one whole response into `parser`. Returns what
// went wrong, ErrorKind::none if the response is as expected.
ErrorKind ask_once(int fd, std::string_view request, ResponseParser& parser);

}  // namespace millrace::load
