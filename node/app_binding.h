// One App of JavaScript.
#pragma once

#include "millrace/server.h"
#include "node/environment.h"

#include <cstdint>

namespace millrace::node {

// Notes the engine's events down for the batch.
class AppBinding final : public ServerHandler {
  public:
    AppBinding(Environment& environment, const ServerOptions& options)
        : environment_(environment), server_(environment.loop(), *this, options) {}

    Server& server() { return server_; }

    void on_request(Response response, Request& request, uint32_t route) override {
        environment_.add_request(response, request, route);
    }

    BodyUse on_body(Response response, const BodyPiece& piece) override {
        environment_.add_body(static_cast<uint32_t>(response.tag() - 1), piece.data, piece.is_last);
        return BodyUse::taken;
    }

    void on_aborted(uint64_t tag) override {
        if (tag != 0) environment_.add_aborted(static_cast<uint32_t>(tag - 1));
    }

    void on_writable(Response response) override {
        environment_.add_writable(static_cast<uint32_t>(response.tag() - 1));
    }

  private:
    Environment& environment_;
    Server server_;
};

void define_app_functions(napi_env env, napi_value exports);
void define_request_functions(napi_env env, napi_value exports);
void define_response_functions(napi_env env, napi_value exports);

}  // namespace millrace::node
