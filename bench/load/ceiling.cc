#include "bench/load/ceiling.h"

#include "bench/limit/canned_server.h"
#include "bench/load/affinity.h"
#include "bench/load/generator.h"
#include "bench/load/report.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace millrace::load {
namespace {

// The child that serves until it is told to stop; it also stops when its parent dies.
class CannedChild {
  public:
    explicit CannedChild(limit::CannedServer& server) : pid_(fork()) {
        if (pid_ != 0) return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin_to_cpu(0);
        server.run();
        _exit(0);
    }
    ~CannedChild() {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    CannedChild(const CannedChild&) = delete;
    CannedChild& operator=(const CannedChild&) = delete;

    pid_t pid() const { return pid_; }

  private:
    pid_t pid_;
};

bool run_at_depth(Options options, uint32_t depth) {
    options.depth = depth;
    std::string error;
    auto lanes = build_lanes(options, error);
    if (!error.empty() || !learn_responses(lanes, options, error)) {
        std::fprintf(stderr, "%s\n", error.c_str());
        return false;
    }
    const auto transport = open_transport(options, total_connections(lanes), error);
    if (!transport) {
        std::fprintf(stderr, "%s\n", error.c_str());
        return false;
    }
    const Result result = Generator(options, lanes, *transport).run();
    std::printf("depth %u: %s", depth, to_line(lanes, result).c_str());
    return result.errors.total() == 0 && result.completed != 0;
}

}  // namespace

int measure_ceiling(const Options& options) {
    limit::CannedServer server(0);
    if (server.port() == 0) {
        std::fprintf(stderr, "the canned server cannot listen\n");
        return 1;
    }
    Options own = options;
    own.port = server.port();
    const CannedChild child(server);
    own.pid = child.pid();
    if (!own.cpu) pin_to_cpu(1);
    const bool fine = run_at_depth(own, 10) && run_at_depth(own, 1);
    return fine ? 0 : 1;
}

}  // namespace millrace::load
