#include "bench/load/request.h"

#include <fstream>
#include <sstream>

namespace millrace::load {

std::optional<std::string> build_request(const Options& options, std::string_view path) {
    if (!options.request_file.empty()) {
        std::ifstream file(options.request_file, std::ios::binary);
        std::ostringstream bytes;
        bytes << file.rdbuf();
        if (!file || bytes.str().empty()) return std::nullopt;
        return bytes.str();
    }
    std::string request = options.method + " " + std::string(path) + " HTTP/1.1\r\n";
    request += "Host: " + options.host + ":" + std::to_string(options.port) + "\r\n";
    request += "Connection: keep-alive\r\n";
    for (const std::string& header : options.headers)
        request += header + "\r\n";
    if (!options.body.empty()) {
        request += "Content-Length: " + std::to_string(options.body.size()) + "\r\n";
    }
    return request + "\r\n" + options.body;
}

bool is_head_request(std::string_view request) { return request.starts_with("HEAD "); }

}  // namespace millrace::load
