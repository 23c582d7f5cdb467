// A server calls a handler that somebody else keeps.
#include "millrace/server.h"

class Nothing final : public millrace::ServerHandler {
  public:
    void on_request(millrace::Response, millrace::Request&, uint32_t) override {}
    millrace::BodyUse on_body(millrace::Response, const millrace::BodyPiece&) override {
        return millrace::BodyUse::taken;
    }
    void on_aborted(uint64_t) override {}
    void on_writable(millrace::Response) override {}
};

void run() {
    millrace::Loop loop;
    Nothing handler;
    millrace::Server server{loop, handler};
#ifdef MILLRACE_WRONG
    millrace::Server dangling{loop, Nothing{}};
#endif
}
