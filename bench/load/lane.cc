#include "bench/load/lane.h"

#include "bench/load/request.h"
#include "bench/load/socket.h"

namespace millrace::load {
namespace {

Lane build_lane(const LaneOptions& wanted, const Options& options) {
    Lane lane;
    lane.name = wanted.name;
    lane.path = wanted.path;
    lane.connections = wanted.connections;
    lane.depth = wanted.depth == 0 ? options.depth : wanted.depth;
    lane.request = build_request(options, wanted.path).value_or("");
    for (uint32_t i = 0; i < lane.depth; ++i)
        lane.block += lane.request;
    lane.expected.status = options.expect_status;
    lane.expected.body = options.expect_body;
    lane.expected.body_size_bytes = options.expect_body_size_bytes;
    lane.expected.answers_head = is_head_request(lane.request);
    return lane;
}

bool learn_response(Lane& lane, const Options& options, std::string& error) {
    const Fd fd = connect_to(options);
    ResponseParser parser(lane.expected);
    parser.begin(ResponseParser::Keep::bytes);
    const ErrorKind kind =
        fd.open() ? ask_once(fd.get(), lane.request, parser) : ErrorKind::connect;
    if (kind != ErrorKind::none) {
        error = "first response of lane " + lane.name + ": " +
                std::string(error_names[static_cast<size_t>(kind)]) + " error";
        if (parser.status() != 0) error += ", status " + std::to_string(parser.status());
        if (kind == ErrorKind::body) error += ", body: " + parser.body().substr(0, 200);
        return false;
    }
    if (options.any_body) return true;
    lane.learned.learn(parser.raw(), parser.date_offset());
    if (!lane.expected.answers_head) lane.expected.body = parser.body();
    return true;
}

}  // namespace

std::vector<Lane> build_lanes(const Options& options, std::string& error) {
    std::vector<Lane> lanes;
    const LaneOptions first{.name = "main",
                            .path = options.path,
                            .connections = options.connections,
                            .depth = options.depth};
    lanes.push_back(build_lane(first, options));
    for (const LaneOptions& more : options.more_lanes)
        lanes.push_back(build_lane(more, options));
    if (lanes[0].request.empty()) error = "cannot read " + options.request_file;
    return lanes;
}

uint32_t total_connections(const std::vector<Lane>& lanes) {
    uint32_t sum = 0;
    for (const Lane& lane : lanes)
        sum += lane.connections;
    return sum;
}

bool learn_responses(std::vector<Lane>& lanes, const Options& options, std::string& error) {
    for (Lane& lane : lanes) {
        if (!learn_response(lane, options, error)) return false;
    }
    return true;
}

}  // namespace millrace::load
