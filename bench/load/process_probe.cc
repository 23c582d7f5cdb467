#include "bench/load/process_probe.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace millrace::load {
namespace {

// The number behind `key` in a file of "Key:  value unit" lines. 0 if there is none.
uint64_t read_field(const std::filesystem::path& path, std::string_view key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(key)) return std::strtoull(line.c_str() + key.size(), nullptr, 10);
    }
    return 0;
}

std::filesystem::path process_folder(int pid) { return "/proc/" + std::to_string(pid); }

}  // namespace

CpuSample sample_cpu(int pid) {
    CpuSample sample;
    const auto tasks = process_folder(pid) / "task";
    std::error_code failure;
    for (const auto& task : std::filesystem::directory_iterator(tasks, failure)) {
        int64_t running_ns = 0;
        std::ifstream(task.path() / "schedstat") >> running_ns;
        sample.cpu_ns += running_ns;
        const auto status = task.path() / "status";
        sample.switches_voluntary += read_field(status, "voluntary_ctxt_switches:");
        sample.switches_forced += read_field(status, "nonvoluntary_ctxt_switches:");
    }
    return sample;
}

MemorySample sample_memory(int pid) {
    // The rollup is exact; the counters behind VmRSS are batched for each CPU.
    return {.rss_bytes = read_field(process_folder(pid) / "smaps_rollup", "Rss:") * 1024,
            .rss_peak_bytes = read_field(process_folder(pid) / "status", "VmHWM:") * 1024};
}

std::vector<MachineCpuSample> sample_machine() {
    std::vector<MachineCpuSample> cpus;
    std::ifstream file("/proc/stat");
    const auto ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("cpu") || line[3] == ' ') continue;
        std::istringstream fields(line);
        std::string name;
        double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0,
               steal = 0;
        fields >> name >> user >> nice >> system >> idle >> waiting >> irq >> softirq >> steal;
        cpus.push_back({.busy_s = (user + nice + system + irq + softirq) / ticks_per_s,
                        .steal_s = steal / ticks_per_s});
    }
    return cpus;
}

}  // namespace millrace::load
