#include "millrace/app.h"

#include "core/api/server_calls.h"
#include "core/server/exchange.h"
#include "core/server/request_record.h"
#include "core/server/server.h"

#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace millrace {
namespace {

Response handle(server::Exchange& exchange) { return {exchange, exchange.generation()}; }

// What a program asked to be told about one exchange. Most exchanges have none.
struct Callbacks {
    std::function<void(const BodyPiece&)> on_data;
    std::function<void()> on_aborted;
    std::function<bool(uint64_t)> on_writable;
};

// A callback while it runs: it may put another one in its own place.
template <typename Function>
struct Running {
    explicit Running(Function& place) : function(std::exchange(place, {})), place_(place) {}
    ~Running() {
        if (!place_) place_ = std::move(function);
    }
    mutable Function function;

  private:
    Function& place_;
};

}  // namespace

class App::State final : public server::Handler {
  public:
    State(Loop& loop, const ServerOptions& options)
        : server_(loop.internals(), *this, settings_of(options, false)) {}

    server::Server& server() { return server_; }

    void add(std::string_view method, std::string_view pattern, Route route) {
        const auto id = static_cast<routing::RouteId>(routes_.size());
        routes_.push_back(std::make_unique<Route>(std::move(route)));
        retire(server_.add_route(method, pattern, id));
    }

    bool remove(std::string_view method, std::string_view pattern) {
        const routing::RouteId removed = server_.remove_route(method, pattern);
        retire(removed);
        return removed != routing::no_route;
    }

    // The callbacks of an exchange, made if there are none yet.
    static Callbacks& callbacks_of(server::Exchange& exchange) {
        if (!exchange.attachment) exchange.attachment = std::make_shared<Callbacks>();
        return *std::static_pointer_cast<Callbacks>(exchange.attachment);
    }

    void on_request(server::Exchange& exchange, server::RequestRecord& record) override {
        Response response = handle(exchange);
        Request request{record};
        while (true) {
            const Route& route = *routes_[record.route];
            ++running_;
            guarded(response, [&] { route(response, request); });
            if (--running_ == 0) retired_.clear();
            // An answer that has been begun cannot be given to another function.
            const bool is_begun = exchange.state() != server::AnswerState::head;
            if (!record.is_yielding || !response.is_open() || is_begun) return;
            if (!server_.find_route(record, record.candidate + 1))
                return server_.answer_not_found(exchange, record);
        }
    }

    server::BodyUse on_body(server::Exchange& exchange, const server::BodyPart& part) override {
        const auto callbacks = find(exchange);
        if (!callbacks || !callbacks->on_data) return server::BodyUse::hold;
        const Running reader{callbacks->on_data};
        guarded(handle(exchange), [&] {
            reader.function({part.data, part.is_last, part.remaining_bytes});
        });
        return server::BodyUse::taken;
    }

    void on_aborted(server::Exchange& exchange) override {
        const auto callbacks = find(exchange);
        if (callbacks && callbacks->on_aborted) guarded({}, callbacks->on_aborted);
    }

    void on_writable(server::Exchange& exchange) override {
        const auto callbacks = find(exchange);
        if (!callbacks || !callbacks->on_writable) return;
        const Response response = handle(exchange);
        bool is_done = true;
        const Running writer{callbacks->on_writable};
        guarded(response, [&] { is_done = writer.function(exchange.accepted_bytes()); });
        if (!is_done && response.is_open()) exchange.notify_writable();
    }

  private:
    // A function may take its own route away while it runs.
    void retire(routing::RouteId id) {
        if (id == routing::no_route) return;
        retired_.push_back(std::move(routes_[id]));
        if (running_ == 0) retired_.clear();
    }

    // Shared, because the exchange may end while one of them runs.
    static std::shared_ptr<Callbacks> find(const server::Exchange& exchange) {
        return std::static_pointer_cast<Callbacks>(exchange.attachment);
    }

    // Calls a function of the program. One that throws costs its own exchange only.
    template <typename Function>
    void guarded(Response response, Function&& function) {
        try {
            function();
        } catch (...) {
            server_.loop().keep(std::current_exception());
            if (!response.is_open()) return;
            server::Exchange& exchange = response.internals();
            if (exchange.state() != server::AnswerState::head) return response.close();
            exchange.head().clear();
            exchange.head().set_status("500");
            exchange.close_after();
            exchange.end("Internal Server Error");
        }
    }

    std::vector<std::unique_ptr<Route>> routes_;
    std::vector<std::unique_ptr<Route>> retired_;
    int running_ = 0;        // functions of routes on the stack
    server::Server server_;  // last: its end aborts what is open, which calls the rest
};

App::App(Loop& loop, const ServerOptions& options)
    : state_(std::make_unique<State>(loop, options)) {}

App::~App() { close(); }

App& App::on(std::string_view method, std::string_view pattern, Route route) {
    if (pattern.empty()) throw Error(ErrorCode::bad_pattern, "a route pattern must not be empty");
    state_->add(method, pattern, std::move(route));
    return *this;
}

bool App::remove(std::string_view method, std::string_view pattern) {
    return state_->remove(method, pattern);
}

uint16_t App::listen(const ListenOptions& options) {
    uint32_t id = 0;
    const int error = listen_on(state_->server(), options, id);
    if (error < 0)
        throw std::system_error(
            -error, std::system_category(),
            "cannot listen on " + options.host + ":" + std::to_string(options.port));
    return static_cast<uint16_t>(state_->server().local_port(id));
}

void App::stop_listening() { state_->server().close_listeners(); }
void App::close() { state_->server().close(); }

void App::on_data(Response response, std::function<void(const BodyPiece&)> reader) {
    server::Exchange& exchange = response.internals();
    if (!exchange.traits().has_body)
        return reader({.data = {}, .is_last = true, .remaining_bytes = 0});
    State::callbacks_of(exchange).on_data = std::move(reader);
    if (exchange.holds_body()) exchange.release_body();
}

void App::collect_body(Response response, size_t bytes_max,
                       std::function<void(std::optional<std::string>)> reader) {
    auto collected = std::make_shared<std::optional<std::string>>(std::in_place);
    on_data(response, [collected, bytes_max, reader = std::move(reader)](const BodyPiece& piece) {
        if (!*collected) return;
        if ((*collected)->size() + piece.data.size() > bytes_max) {
            collected->reset();
            return reader({});
        }
        (*collected)->append(piece.data);
        if (piece.is_last) reader(std::move(*collected));
    });
}

void App::on_aborted(Response response, std::function<void()> function) {
    State::callbacks_of(response.internals()).on_aborted = std::move(function);
}

void App::on_writable(Response response, std::function<bool(uint64_t)> function) {
    server::Exchange& exchange = response.internals();
    State::callbacks_of(exchange).on_writable = std::move(function);
    exchange.notify_writable();
}

ServerStats App::stats() const { return stats_of(state_->server()); }

}  // namespace millrace
