#include "millrace/server.h"

#include "core/api/server_calls.h"
#include "core/server/exchange.h"
#include "core/server/server.h"
#include "millrace/error.h"

namespace millrace {

// Turns the server's calls into those of the public handler.
class Server::Adapter final : public server::Handler {
  public:
    Adapter(ServerHandler& handler, server::ServerLoop& loop) : handler_(handler), loop_(loop) {}

    void on_request(server::Exchange& exchange, server::RequestRecord& record) override {
        Request request{record};
        guarded([&] { handler_.on_request(handle(exchange), request, record.route); });
    }

    server::BodyUse on_body(server::Exchange& exchange, const server::BodyPart& part) override {
        const BodyPiece piece{part.data, part.is_last, part.remaining_bytes};
        BodyUse use = BodyUse::taken;
        guarded([&] { use = handler_.on_body(handle(exchange), piece); });
        return use == BodyUse::hold ? server::BodyUse::hold : server::BodyUse::taken;
    }

    void on_aborted(server::Exchange& exchange) override {
        guarded([&] { handler_.on_aborted(exchange.tag); });
    }

    void on_writable(server::Exchange& exchange) override {
        guarded([&] { handler_.on_writable(handle(exchange)); });
    }

  private:
    static Response handle(server::Exchange& exchange) { return {exchange, exchange.generation()}; }

    // What a handler throws must not unwind the engine: it goes on to whoever runs the loop.
    template <typename Function>
    void guarded(Function&& function) {
        try {
            function();
        } catch (...) {
            loop_.keep(std::current_exception());
        }
    }

    ServerHandler& handler_;
    server::ServerLoop& loop_;
};

Server::Server(Loop& loop, ServerHandler& handler, const ServerOptions& options)
    : adapter_(std::make_unique<Adapter>(handler, loop.internals())),
      server_(std::make_unique<server::Server>(
          loop.internals(), *adapter_,
          settings_of(options, options.delivery == Delivery::batched))) {}

Server::~Server() = default;

uint32_t Server::add_route(std::string_view method, std::string_view pattern, uint32_t route) {
    if (pattern.empty()) throw Error(ErrorCode::bad_pattern, "a route pattern must not be empty");
    return server_->add_route(method, pattern, route);
}

uint32_t Server::remove_route(std::string_view method, std::string_view pattern) {
    return server_->remove_route(method, pattern);
}

uint32_t Server::next_route(Request& request) {
    server::RequestRecord& record = request.internals();
    return server_->find_route(record, record.candidate + 1) ? record.route : no_route;
}

void Server::answer_not_found(Response response, Request& request) {
    server::Exchange& exchange = response.internals();
    if (exchange.state() != server::AnswerState::head)
        throw Error(ErrorCode::head_sent, "the head of the response has been sent");
    server_->answer_not_found(exchange, request.internals());
}

int Server::listen(const ListenOptions& options, ListenerId& id) {
    const int error = listen_on(*server_, options, id);
    return -error;
}

bool Server::close_listener(ListenerId id) { return server_->close_listener(id); }
int Server::local_port(ListenerId id) const { return server_->local_port(id); }
void Server::close() { server_->close(); }

ServerStats Server::stats() const { return stats_of(*server_); }

}  // namespace millrace
