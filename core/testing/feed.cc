#include "core/testing/feed.h"

#include <utility>

namespace millrace::testing {
namespace {

std::vector<size_t> stepped(size_t size, size_t step) {
    std::vector<size_t> ends;
    for (size_t end = step; end < size; end += step) {
        ends.push_back(end);
    }
    ends.push_back(size);
    return ends;
}

// True if a long wire is to be split at `at`.
bool is_chosen(size_t at, size_t size) {
    constexpr size_t edge_bytes = 64;
    constexpr size_t spread = 61;
    return at < edge_bytes || size - at < edge_bytes || at % (size / spread) == 0;
}

}  // namespace

Feeder::Feeder(std::string_view wire, std::vector<size_t> ends, std::string name)
    : wire_(wire),
      ends_(std::move(ends)),
      name_(std::move(name)),
      memory_(wire.size() + scan_padding_bytes) {}

PaddedBytes Feeder::put_padded(size_t begin, size_t end) {
    const std::string_view behind = wire_.substr(end);
    return memory_.put_padded(wire_.substr(begin, end - begin), behind.empty() ? "\r\n" : behind);
}

Feeding Feeder::feed_prefixes(const std::function<Feeding(PaddedBytes)>& take) {
    for (const size_t end : ends_) {
        if (take(put_padded(0, end)) == Feeding::stop) return Feeding::stop;
    }
    return Feeding::go_on;
}

Feeding Feeder::feed_pieces(const std::function<Feeding(std::string_view)>& take) {
    size_t begin = 0;
    for (const size_t end : ends_) {
        const std::string_view piece = wire_.substr(begin, end - begin);
        if (take(memory_.put_at_end(piece)) == Feeding::stop) return Feeding::stop;
        begin = end;
    }
    return Feeding::go_on;
}

Feeding Feeder::feed_padded_pieces(const std::function<Feeding(PaddedBytes)>& take) {
    size_t begin = 0;
    for (const size_t end : ends_) {
        if (take(put_padded(begin, end)) == Feeding::stop) return Feeding::stop;
        begin = end;
    }
    return Feeding::go_on;
}

void feed_every_way(std::string_view wire, const std::function<void(Feeder&)>& run) {
    Feeder whole{wire, {wire.size()}, "whole"};
    run(whole);
    const bool is_long = wire.size() > every_split_bytes_max;
    for (size_t at = 1; at < wire.size(); ++at) {
        if (is_long && !is_chosen(at, wire.size())) continue;
        Feeder split{wire, {at, wire.size()}, "split at " + std::to_string(at)};
        run(split);
    }
    constexpr size_t odd_step = 61;
    const size_t step = is_long ? odd_step : 1;
    Feeder stepwise{wire, stepped(wire.size(), step), "in steps of " + std::to_string(step)};
    run(stepwise);
}

}  // namespace millrace::testing
