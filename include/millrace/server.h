// The server below App: routes are numbers, events go to one handler. For embedders (our Node
// binding is one); C++ programs will rather use App.
#pragma once

#include "millrace/limits.h"
#include "millrace/loop.h"
#include "millrace/request.h"
#include "millrace/response.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace millrace {

namespace server {
class Server;
}

inline constexpr uint32_t no_route = UINT32_MAX;

// A piece of a request body.
struct BodyPiece {
    std::string_view
        data;              // valid until the call returns; in batched delivery until the batch ends
    bool is_last = false;  // the body ends with it; reported exactly once for each body
    uint64_t remaining_bytes =
        0;  // what Content-Length says is still to come; UINT64_MAX if unknown
};

// What became of a piece.
enum class BodyUse : uint8_t {
    taken,
    hold,  // nobody reads yet: the engine keeps it, and delivers it again after release_body()
};

// What a function throws goes on to whoever runs the loop, when the turn is over. The exchange
// stays as it is.
class ServerHandler {
  public:
    virtual ~ServerHandler() = default;

    // A request for `route`. Without a body: BodyPiece events follow only if request.has_body().
    virtual void on_request(Response response, Request& request, uint32_t route) = 0;
    virtual BodyUse on_body(Response response, const BodyPiece& piece) = 0;

    // The connection is gone and the response was not complete. Exactly once; the response is no
    // longer open, its tag can no longer be read: it is given here.
    virtual void on_aborted(uint64_t tag) = 0;

    // After notify_writable().
    virtual void on_writable(Response response) = 0;
};

// When views die.
enum class Delivery : uint8_t {
    immediate,  // when the handler returns
    batched,    // when the loop's on_batch hook returns: the handler may only note things down
};

enum class PortSharing : uint8_t {
    exclusive,  // a second listener on the port is refused
    shared,     // the kernel spreads connections over all listeners that share the port
};

struct ListenOptions {
    std::string host;   // name or address; empty: all interfaces, IPv6 and IPv4
    uint16_t port = 0;  // 0: the kernel chooses
    PortSharing sharing = PortSharing::exclusive;
};

struct ServerOptions {
    HttpLimits limits;
    Delivery delivery = Delivery::immediate;
    // Answer HEAD by the GET route where no HEAD route matches (RFC 9110 section 9.3.2).
    bool head_from_get = true;
    // Answer 405 with Allow where the path has routes, but none for the method (RFC 9110 section
    // 15.5.6); else 404.
    bool method_not_allowed = true;
};

struct ServerStats {
    uint64_t connections = 0;  // open now
    uint64_t accepted = 0;     // connections ever
    uint64_t requests = 0;
    uint64_t rejected = 0;  // requests that broke the protocol or a limit
    uint64_t aborted = 0;   // requests whose connection went before the answer was complete
    uint64_t timeouts = 0;  // connections closed by a timeout
};

// Names a listener of a server.
using ListenerId = uint32_t;

class Server {
  public:
    // `handler` must outlive the server. Throws std::invalid_argument if a limit is out of its
    // range.
    Server(Loop& loop, ServerHandler& handler, const ServerOptions& options = {});
    ~Server();  // as close()
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Registers a route for a method token, or for all methods if `method` is empty. Returns the
    // number that the same method and pattern had before, or no_route. Patterns:
    // "/text/:parameter/*". See docs/guide/routing.md for the precedence.
    uint32_t add_route(std::string_view method, std::string_view pattern, uint32_t route);
    uint32_t remove_route(std::string_view method, std::string_view pattern);

    // The next candidate for a request whose handler yielded; no_route if there is none.
    uint32_t next_route(Request& request);

    // Answers as if no route had matched: 404, or 405. Throws Error{response_gone, head_sent}.
    void answer_not_found(Response response, Request& request);

    // Opens a listener. Returns 0 and sets `id`, or returns the errno.
    int listen(const ListenOptions& options, ListenerId& id);
    // Stops accepting. Open connections stay, but once no listener is open their next answer says
    // Connection: close and ends them (RFC 9112 section 9.6). False if it is closed already.
    bool close_listener(ListenerId id);
    // -1 if it is closed.
    int local_port(ListenerId id) const;

    // Closes listeners and connections at once; what is not answered is aborted. A closed server
    // may listen again.
    void close();

    ServerStats stats() const;

    // For the bodies of this API.
    class Adapter;

  private:
    std::unique_ptr<Adapter> adapter_;
    std::unique_ptr<server::Server> server_;
};

}  // namespace millrace
