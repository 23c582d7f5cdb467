#include "bench/load/report.h"

#include "bench/load/json_writer.h"

#include <cstdio>

namespace millrace::load {
namespace {

struct NamedPercentile {
    const char* key;
    double percent;
};
constexpr NamedPercentile percentiles[] = {{"p50", 50},     {"p90", 90}, {"p95", 95},
                                           {"p97_5", 97.5}, {"p99", 99}, {"p99_9", 99.9}};

double per(double amount, uint64_t count) {
    return count == 0 ? 0 : amount / static_cast<double>(count);
}

double rate(uint64_t count, int64_t window_ns) {
    return window_ns == 0 ? 0 : static_cast<double>(count) * 1e9 / static_cast<double>(window_ns);
}

double share(int64_t part_ns, int64_t whole_ns) {
    return whole_ns == 0 ? 0 : static_cast<double>(part_ns) / static_cast<double>(whole_ns);
}

int64_t server_cpu_ns(const Result& result) {
    return result.server_cpu_after.cpu_ns - result.server_cpu_before.cpu_ns;
}

void add_latency(JsonWriter& json, const Histogram& histogram) {
    json.begin("latency_us");
    json.add("min", static_cast<double>(histogram.min_ns()) / 1e3);
    json.add("mean", histogram.mean_ns() / 1e3);
    for (const auto& [key, percent] : percentiles) {
        json.add(key, static_cast<double>(histogram.percentile_ns(percent)) / 1e3);
    }
    json.add("max", static_cast<double>(histogram.max_ns()) / 1e3).end();
    json.begin("histogram").add("unit", "ns").add("significant_digits", 3);
    json.add("total", histogram.total()).add("out_of_range", histogram.out_of_range());
    json.begin_array("counts");
    histogram.each_bucket([&](int64_t lowest_ns, uint64_t count) {
        json.begin_array().add({}, lowest_ns).add({}, count).end_array();
    });
    json.end_array().end();
}

void add_lane(JsonWriter& json, const Lane& lane, const Result& result) {
    json.begin().add("name", lane.name).add("path", lane.path);
    json.add("connections", lane.connections).add("depth", lane.depth);
    json.add("completed", lane.completed);
    json.add("requests_per_s", rate(lane.completed, result.window_ns));
    json.add("request_bytes", lane.request.size()).add("response_bytes", lane.learned.size());
    json.add("validated_by_parser", lane.parsed);
    add_latency(json, lane.latency);
    json.end();
}

void add_parameters(JsonWriter& json, const Options& options) {
    json.begin("parameters");
    json.add("connections", options.connections).add("depth", options.depth);
    json.add("refill", options.refill == Refill::window ? "window" : "batch");
    json.add("warmup_s", options.warmup_s).add("duration_s", options.duration_s);
    json.add("timeout_s", options.timeout_s).add("requests", options.requests);
    json.add("method", options.method).add("path", options.path);
    json.add("cpu", options.cpu.value_or(-1)).end();
}

void add_processes(JsonWriter& json, const Options& options, const Result& result) {
    json.begin("client").add("cpu_s", static_cast<double>(result.client_cpu_ns) / 1e9);
    json.add("utilisation", share(result.client_cpu_ns, result.window_ns));
    json.add("cpu_ns_per_request",
             per(static_cast<double>(result.client_cpu_ns), result.completed));
    json.end();
    if (options.pid == 0) return;
    const int64_t cpu_ns = server_cpu_ns(result);
    const auto& [cpu0, cpu1] = std::pair(result.server_cpu_before, result.server_cpu_after);
    const MemorySample& memory = result.server_memory_after;
    json.begin("server").add("pid", options.pid);
    json.add("cpu_s", static_cast<double>(cpu_ns) / 1e9);
    json.add("utilisation", share(cpu_ns, result.window_ns));
    json.add("cpu_ns_per_request", per(static_cast<double>(cpu_ns), result.completed));
    json.add("switches_voluntary", cpu1.switches_voluntary - cpu0.switches_voluntary);
    json.add("switches_forced", cpu1.switches_forced - cpu0.switches_forced);
    json.add("rss_bytes", memory.rss_bytes).add("rss_peak_bytes", memory.rss_peak_bytes);
    json.add("rss_growth_bytes", static_cast<int64_t>(memory.rss_bytes) -
                                     static_cast<int64_t>(result.server_memory_before.rss_bytes));
    json.end();
}

// With the CPU times of client and server this shows what else ran during the window.
void add_machine(JsonWriter& json, const Result& result) {
    json.begin_array("machine");
    for (size_t cpu = 0; cpu < result.machine_after.size(); ++cpu) {
        const MachineCpuSample& before = result.machine_before[cpu];
        const MachineCpuSample& after = result.machine_after[cpu];
        json.begin().add("cpu", cpu).add("busy_s", after.busy_s - before.busy_s);
        json.add("steal_s", after.steal_s - before.steal_s).end();
    }
    json.end_array();
}

void add_errors(JsonWriter& json, const ErrorCounts& errors) {
    json.begin("errors").add("total", errors.total());
    for (size_t kind = 1; kind < error_names.size(); ++kind) {
        json.add(error_names[kind], errors.of(static_cast<ErrorKind>(kind)));
    }
    json.end();
}

template <class... Values>
std::string format(const char* pattern, Values... values) {
    char text[512];
    std::snprintf(text, sizeof text, pattern, values...);
    return text;
}

}  // namespace

std::string to_json(const Options& options, const std::vector<Lane>& lanes, const Result& result) {
    JsonWriter json;
    json.begin().add("tool", "millrace-load").add("format", 1);
    json.add("loop", "closed: latency of a saturated server, prone to coordinated omission");
    json.add("clock", "CLOCK_MONOTONIC, read once for a batch of reads and once for their writes");
    json.add("transport", result.transport);
    add_parameters(json, options);
    json.add("window_s", static_cast<double>(result.window_ns) / 1e9);
    json.add("completed", result.completed);
    json.add("requests_per_s", rate(result.completed, result.window_ns));
    json.add("bytes_in", result.bytes_in).add("bytes_out", result.bytes_out);
    json.begin_array("per_second");
    for (const uint64_t count : result.per_second)
        json.add({}, count);
    json.end_array();
    add_errors(json, result.errors);
    add_processes(json, options, result);
    add_machine(json, result);
    json.add("in_flight_at_stop", result.in_flight_at_stop).add("undrained", result.undrained);
    json.begin_array("lanes");
    for (const Lane& lane : lanes)
        add_lane(json, lane, result);
    json.end_array().end();
    return json.text() + "\n";
}

std::string to_line(const std::vector<Lane>& lanes, const Result& result) {
    std::string line = format("%.0f req/s, client %.0f ns/req at %.0f %%",
                              rate(result.completed, result.window_ns),
                              per(static_cast<double>(result.client_cpu_ns), result.completed),
                              100 * share(result.client_cpu_ns, result.window_ns));
    if (result.server_cpu_after.cpu_ns != 0) {
        line += format(", server %.0f ns/req at %.0f %%, RSS %.1f MiB",
                       per(static_cast<double>(server_cpu_ns(result)), result.completed),
                       100 * share(server_cpu_ns(result), result.window_ns),
                       static_cast<double>(result.server_memory_after.rss_bytes) / 1048576);
    }
    for (const Lane& lane : lanes) {
        line += format(", %s p50 %.0f p95 %.0f p99 %.0f us", lane.name.c_str(),
                       static_cast<double>(lane.latency.percentile_ns(50)) / 1e3,
                       static_cast<double>(lane.latency.percentile_ns(95)) / 1e3,
                       static_cast<double>(lane.latency.percentile_ns(99)) / 1e3);
    }
    line += format(", %llu errors", static_cast<unsigned long long>(result.errors.total()));
    for (size_t kind = 1; kind < error_names.size(); ++kind) {
        const auto count = result.errors.of(static_cast<ErrorKind>(kind));
        if (count != 0) {
            line += format(" (%s %llu)", error_names[kind].data(),
                           static_cast<unsigned long long>(count));
        }
    }
    return line + "\n";
}

std::string to_json(const IdleResult& result) {
    JsonWriter json;
    json.begin().add("tool", "millrace-load").add("format", 1).add("mode", "idle");
    json.add("connections", result.connections);
    json.add("rss_before_bytes", result.rss_before_bytes);
    json.add("rss_idle_bytes", result.rss_idle_bytes);
    json.add("rss_after_bytes", result.rss_after_bytes);
    json.add("bytes_per_connection", result.bytes_per_connection());
    json.add("open_s", static_cast<double>(result.open_ns) / 1e9);
    add_errors(json, result.errors);
    json.end();
    return json.text() + "\n";
}

std::string to_line(const IdleResult& result) {
    return format(
        "%llu idle connections, RSS %.1f -> %.1f MiB, %.0f bytes a connection, %llu errors\n",
        static_cast<unsigned long long>(result.connections),
        static_cast<double>(result.rss_before_bytes) / 1048576,
        static_cast<double>(result.rss_idle_bytes) / 1048576, result.bytes_per_connection(),
        static_cast<unsigned long long>(result.errors.total()));
}

}  // namespace millrace::load
