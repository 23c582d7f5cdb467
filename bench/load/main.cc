// millrace-load: see options_help().
#include "bench/load/affinity.h"
#include "bench/load/ceiling.h"
#include "bench/load/generator.h"
#include "bench/load/idle.h"
#include "bench/load/options.h"
#include "bench/load/report.h"

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::load {
namespace {

enum Exit : int { fine = 0, failed = 1, wrong_usage = 2 };

bool write_json(const Options& options, const std::string& json) {
    if (options.json.empty()) return true;
    if (options.json == "-") return std::fputs(json.c_str(), stdout) >= 0;
    std::ofstream file(options.json);
    file << json;
    return static_cast<bool>(file);
}

// The line for people must not get between the JSON on standard output.
void print_line(const Options& options, const std::string& line) {
    std::fputs(line.c_str(), options.json == "-" ? stderr : stdout);
}

int run_load(const Options& options, std::vector<Lane>& lanes) {
    std::string error;
    const auto transport = open_transport(options, total_connections(lanes), error);
    if (!transport) {
        std::fprintf(stderr, "%s\n", error.c_str());
        return Exit::failed;
    }
    const Result result = Generator(options, lanes, *transport).run();
    print_line(options, to_line(lanes, result));
    if (!write_json(options, to_json(options, lanes, result))) return Exit::failed;
    return result.errors.total() == 0 && result.completed != 0 ? Exit::fine : Exit::failed;
}

int hold_idle(const Options& options, const Lane& lane) {
    const IdleResult result = run_idle(options, lane);
    print_line(options, to_line(result));
    if (!write_json(options, to_json(result))) return Exit::failed;
    return result.errors.total() == 0 ? Exit::fine : Exit::failed;
}

int run(const Options& options) {
    if (options.help)
        return std::fputs(options_help().data(), stdout) < 0 ? Exit::failed : Exit::fine;
    if (options.cpu && !pin_to_cpu(*options.cpu)) {
        std::fprintf(stderr, "cannot run on CPU %d\n", *options.cpu);
        return Exit::wrong_usage;
    }
    if (options.self_test) return measure_ceiling(options);
    std::string error;
    auto lanes = build_lanes(options, error);
    if (!error.empty() || !learn_responses(lanes, options, error)) {
        std::fprintf(stderr, "%s\n", error.c_str());
        return Exit::failed;
    }
    return options.idle != 0 ? hold_idle(options, lanes[0]) : run_load(options, lanes);
}

}  // namespace
}  // namespace millrace::load

int main(int argc, char** argv) {
    const std::vector<std::string_view> arguments(argv + 1, argv + argc);
    std::string error;
    const auto options = millrace::load::parse_options(arguments, error);
    if (!options) {
        std::fprintf(stderr, "%s\n%s", error.c_str(), millrace::load::options_help().data());
        return millrace::load::Exit::wrong_usage;
    }
    return millrace::load::run(*options);
}
