#include "bench/load/histogram.h"

#include <algorithm>
#include <cmath>

namespace millrace::load {

void Histogram::merge(const Histogram& other) {
    for (size_t i = 0; i < counts_.size(); ++i)
        counts_[i] += other.counts_[i];
    total_ += other.total_;
    out_of_range_ += other.out_of_range_;
    sum_ns_ += other.sum_ns_;
    min_ns_ = std::min(min_ns_, other.min_ns_);
    max_ns_ = std::max(max_ns_, other.max_ns_);
}

void Histogram::clear() { *this = Histogram(); }

double Histogram::mean_ns() const {
    const uint64_t in_range = total_ - out_of_range_;
    return in_range == 0 ? 0 : sum_ns_ / static_cast<double>(in_range);
}

int64_t Histogram::percentile_ns(double percent) const {
    if (total_ == 0) return 0;
    const auto wanted = std::ceil(percent / 100 * static_cast<double>(total_));
    const uint64_t rank = std::clamp<uint64_t>(static_cast<uint64_t>(wanted), 1, total_);
    uint64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
        seen += counts_[i];
        if (seen >= rank) return std::clamp(highest_of(i), min_ns_, max_ns_);
    }
    return value_max_ns;
}

int64_t Histogram::lowest_of(size_t bucket) {
    if (bucket < 2 * half) return static_cast<int64_t>(bucket);
    const size_t shift = (bucket - 2 * half) / half + 1;
    return static_cast<int64_t>(((bucket - 2 * half) % half + half) << shift);
}

int64_t Histogram::highest_of(size_t bucket) {
    if (bucket < 2 * half) return static_cast<int64_t>(bucket);
    const size_t shift = (bucket - 2 * half) / half + 1;
    return lowest_of(bucket) + (int64_t{1} << shift) - 1;
}

}  // namespace millrace::load
