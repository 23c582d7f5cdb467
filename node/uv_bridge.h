// Puts the engine's loop on libuv's: the only place that touches libuv.
#pragma once

#include <node_api.h>

#include <functional>
#include <memory>

namespace millrace::node {

// Calls `on_ready` in the thread of `env` whenever `descriptor` is readable. Looks libuv up at run
// time in the process that loaded the addon, so that a runtime without it gets an error and not a
// crash.
class UvBridge {
  public:
    // Returns nullptr and sets `error` if the runtime has no usable libuv.
    static std::unique_ptr<UvBridge> open(napi_env env, int descriptor,
                                          std::function<void()> on_ready, const char*& error);
    ~UvBridge();
    UvBridge(const UvBridge&) = delete;
    UvBridge& operator=(const UvBridge&) = delete;

    // Whether the process, or worker, is kept alive by it. It is not, at first.
    void set_keeps_alive(bool keeps);

    // Stops; `on_closed` runs when libuv has let go of the memory.
    void close(std::function<void()> on_closed);

  private:
    struct Handle;
    explicit UvBridge(Handle* handle) : handle_(handle) {}

    Handle* handle_;  // frees itself when libuv has closed it
    bool keeps_alive_ = false;
};

}  // namespace millrace::node
