// All that one Node environment (main thread or worker) has of the engine: its loop, its apps, the
// memory shared with JavaScript, and the one crossing of a turn. Nothing here is global.
#pragma once

#include "millrace/loop.h"
#include "millrace/request.h"
#include "millrace/response.h"
#include "node/batch_pace.h"
#include "node/protocol.h"
#include "node/response_table.h"
#include "node/uv_bridge.h"
#include "node/values.h"

#include <node_api.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace millrace::node {

class AppBinding;

class Environment {
  public:
    explicit Environment(napi_env env);
    ~Environment();
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

    // Called once by js/native: the shared memory, and the function that handles a batch. Starts
    // the loop.
    void start(const Arguments& arguments);

    Loop& loop();
    ResponseTable& responses() { return responses_; }

    // The response of a slot; nullptr if its connection has gone.
    Response* open_response(uint32_t slot);

    // The request number `index` of the batch under way. Throws if there is none.
    Request& request(uint32_t index);

    // A prepared head by number. Throws if there is none.
    const PreparedHead& head(uint32_t number) const;
    uint32_t add_head(PreparedHead head);

    AppBinding& app(uint32_t number);
    uint32_t add_app(std::unique_ptr<AppBinding> app);

    // The bytes of a body event. Throws if they do not lie in the arena.
    std::string_view received(uint32_t offset, uint32_t bytes) const;

    // --- Events of the batch ---------------------------------------------------------------------
    void add_request(Response response, Request& request, uint32_t route);
    void add_body(uint32_t slot, std::string_view data, bool is_last);
    void add_aborted(uint32_t slot);
    void add_writable(uint32_t slot);

    // While it is there, aborts are noted in it and not told by events: JavaScript asked for a
    // close and calls the abort functions itself.
    class AbortCollector {
      public:
        explicit AbortCollector(Environment& environment) : environment_(environment) {
            environment_.collector_ = this;
        }
        ~AbortCollector() { environment_.collector_ = nullptr; }
        AbortCollector(const AbortCollector&) = delete;
        AbortCollector& operator=(const AbortCollector&) = delete;
        std::vector<uint32_t> slots;

      private:
        Environment& environment_;
    };

    // Carries out what JavaScript has written into the command memory.
    void run_commands();
    // And writes it to the sockets, if no crossing is under way, whose end does so.
    void flush();
    // And writes it to the sockets at once.
    void flush_now();

    // Lets the process live as long as there is something to wait for.
    void update_keep_alive();

    // Memory for the text of arguments.
    std::string scratch;
    std::string second_scratch;

  private:
    // An ArrayBuffer that JavaScript made and C++ holds on to.
    struct Shared {
        napi_ref reference = nullptr;
        std::span<char> bytes;
    };

    static void tear_down(napi_async_cleanup_hook_handle handle, void* data);
    Shared share(napi_value buffer);
    void on_ready();
    void dispatch();
    void call_dispatcher();
    void report_crossing_failure();
    void forget_consumed(size_t first, size_t count);
    void run_command(std::span<const char>& commands);
    void push_event(EventKind kind, uint32_t flags, uint32_t slot, uint32_t third, uint32_t fourth);
    void withdraw(uint32_t index);
    uint32_t event_count() const { return static_cast<uint32_t>(events_.size()); }

    napi_env env_;
    napi_async_cleanup_hook_handle cleanup_ = nullptr;
    napi_async_context async_context_ = nullptr;
    napi_ref dispatcher_ = nullptr;
    Shared event_memory_;
    Shared command_memory_;
    Shared receive_memory_;
    std::optional<Loop> loop_;
    std::unique_ptr<UvBridge> uv_;
    bool is_dead_ = false;
    bool is_crossing_ = false;

    BatchPace pace_;
    ResponseTable responses_;
    std::vector<PreparedHead> heads_;
    std::vector<std::unique_ptr<AppBinding>> apps_;

    std::vector<EventWords> events_;
    std::vector<Request> requests_;
    bool has_parts_ = false;  // bodies or writable signals are among the events
    uint32_t batch_ = 1;
    uint32_t next_event_ = 0;    // the first that JavaScript has not been given to the end
    uint32_t shown_events_ = 0;  // from there on, how many lie in the shared memory
    AbortCollector* collector_ = nullptr;
};

}  // namespace millrace::node
