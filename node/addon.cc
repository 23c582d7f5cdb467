// The entry of the addon.
#include "node/app_binding.h"
#include "node/environment.h"

#include <node_api.h>

#include <memory>

namespace millrace::node {
namespace {

// start(events, commands, receiveArena, dispatcher)
napi_value start(const Arguments& arguments) {
    arguments.environment().start(arguments);
    return nullptr;
}

// flush(): carries out and writes out what has been gathered; within a crossing its end does
napi_value flush(const Arguments& arguments) {
    arguments.environment().flush();
    return nullptr;
}

// flushNow(): the same, within a crossing too
napi_value flush_now(const Arguments& arguments) {
    arguments.environment().flush_now();
    return nullptr;
}

// runCommands(): makes room in the command memory
napi_value run_commands(const Arguments& arguments) {
    arguments.environment().run_commands();
    return nullptr;
}

// reportError(error): as Node reports an exception that nobody caught
napi_value report_error(const Arguments& arguments) {
    napi_fatal_exception(arguments.env(), arguments.at(0));
    return nullptr;
}

// detach(arrayBuffer): its bytes are no longer to be had
napi_value detach(const Arguments& arguments) {
    check(arguments.env(), napi_detach_arraybuffer(arguments.env(), arguments.at(0)));
    return nullptr;
}

napi_value init(napi_env env, napi_value exports) {
    try {
        auto environment = std::make_unique<Environment>(env);
        // Ends with its cleanup hook, not with the instance data: libuv must let go of it first.
        check(env, napi_set_instance_data(env, environment.release(), nullptr, nullptr));
        define(env, exports, "start", start);
        define(env, exports, "flush", flush);
        define(env, exports, "flushNow", flush_now);
        define(env, exports, "runCommands", run_commands);
        define(env, exports, "reportError", report_error);
        define(env, exports, "detach", detach);
        define_app_functions(env, exports);
        define_request_functions(env, exports);
        define_response_functions(env, exports);
    } catch (const JsPending&) {
        return nullptr;
    } catch (const std::exception& error) {
        napi_throw_error(env, "ERR_MILLRACE", error.what());
        return nullptr;
    }
    return exports;
}

}  // namespace
}  // namespace millrace::node

NAPI_MODULE(millrace, millrace::node::init)
