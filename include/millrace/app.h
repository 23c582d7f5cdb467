// An HTTP application: routes with functions.
//
//     app.get("/hello/:name", [](millrace::Response& response, millrace::Request& request) {
//         response.header("content-type", "text/plain").end(*request.parameter("name"));
//     });
#pragma once

#include "millrace/error.h"
#include "millrace/limits.h"
#include "millrace/loop.h"
#include "millrace/request.h"
#include "millrace/response.h"
#include "millrace/server.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace millrace {

// Called with the handle of the answer, to be copied if the answer comes later, and with the
// request, which dies when the function returns. If it throws, the request is answered with 500
// (or, if the answer was under way, its connection closed), and the exception goes on to whoever
// runs the loop.
using Route = std::function<void(Response& response, Request& request)>;

class App {
  public:
    // Throws std::invalid_argument if a limit is out of its range.
    explicit App(Loop& loop, const ServerOptions& options = {});
    ~App();  // as close()
    App(const App&) = delete;
    App& operator=(const App&) = delete;

    // Registering the same method and pattern again replaces the function.
    App& get(std::string_view pattern, Route route) { return on("GET", pattern, std::move(route)); }
    App& head(std::string_view pattern, Route route) {
        return on("HEAD", pattern, std::move(route));
    }
    App& post(std::string_view pattern, Route route) {
        return on("POST", pattern, std::move(route));
    }
    App& put(std::string_view pattern, Route route) { return on("PUT", pattern, std::move(route)); }
    App& del(std::string_view pattern, Route route) {
        return on("DELETE", pattern, std::move(route));
    }
    App& patch(std::string_view pattern, Route route) {
        return on("PATCH", pattern, std::move(route));
    }
    App& options(std::string_view pattern, Route route) {
        return on("OPTIONS", pattern, std::move(route));
    }
    App& any(std::string_view pattern, Route route) { return on("", pattern, std::move(route)); }

    // For any method token; empty: for all methods. Throws Error{bad_pattern} if the pattern is
    // empty.
    App& on(std::string_view method, std::string_view pattern, Route route);
    bool remove(std::string_view method, std::string_view pattern);

    // Opens a listener. Returns its port. Throws std::system_error.
    uint16_t listen(const ListenOptions& options);

    // Stops accepting on all listeners. Open connections end with their next answer, which says
    // Connection: close (RFC 9112 section 9.6).
    void stop_listening();

    // Closes listeners and connections at once; what is not answered is aborted.
    void close();

    // --- The life of one exchange. Throw Error{response_gone}. ----------------------------------

    // Calls `reader` with the body, piece by piece, the last marked. At any time before the
    // response is complete: the engine holds the body until then. Without a body: one empty last
    // piece.
    void on_data(Response response, std::function<void(const BodyPiece&)> reader);

    // Calls `reader` once with the whole body, or with nothing as soon as it is over `bytes_max`.
    void collect_body(Response response, size_t bytes_max,
                      std::function<void(std::optional<std::string>)> reader);

    // Calls `function` once if the connection goes before the response is complete.
    void on_aborted(Response response, std::function<void()> function);

    // Calls `function` with write_offset() whenever all queued bytes have been taken. It returns
    // false when it wants to be called again.
    void on_writable(Response response, std::function<bool(uint64_t offset)> function);

    ServerStats stats() const;

  private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace millrace
