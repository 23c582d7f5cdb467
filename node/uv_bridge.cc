#include "node/uv_bridge.h"

#include <dlfcn.h>
#include <uv.h>

namespace millrace::node {
namespace {

// libuv as the process has it.
struct Uv {
    decltype(&uv_poll_init) poll_init;
    decltype(&uv_poll_start) poll_start;
    decltype(&uv_poll_stop) poll_stop;
    decltype(&uv_close) close;
    decltype(&uv_ref) ref;
    decltype(&uv_unref) unref;

    bool is_complete() const {
        return poll_init && poll_start && poll_stop && close && ref && unref;
    }

    static const Uv& get() {
        static const Uv uv = [] {
            Uv found{};
            find(found.poll_init, "uv_poll_init");
            find(found.poll_start, "uv_poll_start");
            find(found.poll_stop, "uv_poll_stop");
            find(found.close, "uv_close");
            find(found.ref, "uv_ref");
            find(found.unref, "uv_unref");
            return found;
        }();
        return uv;
    }

  private:
    template <typename Function>
    static void find(Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    }
};

uv_handle_t* as_handle(uv_poll_t* poll) { return reinterpret_cast<uv_handle_t*>(poll); }

}  // namespace

struct UvBridge::Handle {
    uv_poll_t poll;
    std::function<void()> on_ready;
    std::function<void()> on_closed;

    static void ready(uv_poll_t* poll, int, int) {
        auto* handle = static_cast<Handle*>(poll->data);
        if (handle->on_ready) handle->on_ready();
    }

    static void closed(uv_handle_t* poll) {
        const std::unique_ptr<Handle> handle(static_cast<Handle*>(poll->data));
        if (handle->on_closed) handle->on_closed();
    }
};

std::unique_ptr<UvBridge> UvBridge::open(napi_env env, int descriptor,
                                         std::function<void()> on_ready, const char*& error) {
    const Uv& uv = Uv::get();
    uv_loop_t* loop = nullptr;
    error = "this runtime has no libuv that a Node-API addon can use";
    if (!uv.is_complete() || napi_get_uv_event_loop(env, &loop) != napi_ok) return nullptr;
    auto handle = std::make_unique<Handle>();
    handle->poll.data = handle.get();
    handle->on_ready = std::move(on_ready);
    error = "libuv cannot watch the engine's descriptor";
    if (uv.poll_init(loop, &handle->poll, descriptor) != 0) return nullptr;
    Handle* const opened = handle.release();  // libuv's until it is closed
    uv.unref(as_handle(&opened->poll));
    std::unique_ptr<UvBridge> bridge(new UvBridge(opened));
    if (uv.poll_start(&opened->poll, UV_READABLE, Handle::ready) != 0) return nullptr;
    error = nullptr;
    return bridge;
}

UvBridge::~UvBridge() { close({}); }

void UvBridge::set_keeps_alive(bool keeps) {
    if (!handle_ || keeps == keeps_alive_) return;
    keeps_alive_ = keeps;
    if (keeps)
        Uv::get().ref(as_handle(&handle_->poll));
    else
        Uv::get().unref(as_handle(&handle_->poll));
}

void UvBridge::close(std::function<void()> on_closed) {
    if (!handle_) return;
    Handle* const handle = handle_;
    handle_ = nullptr;
    handle->on_ready = nullptr;
    handle->on_closed = std::move(on_closed);
    Uv::get().poll_stop(&handle->poll);
    Uv::get().close(as_handle(&handle->poll), Handle::closed);
}

}  // namespace millrace::node
