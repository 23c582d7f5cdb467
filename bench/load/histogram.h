// A log-linear latency histogram in the manner of HdrHistogram: exact below 2,048 ns, above it
// 1,024 buckets for each power of two, so that every value up to 60 s keeps three significant
// digits.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace millrace::load {

class Histogram {
  public:
    static constexpr int64_t value_max_ns = 60'000'000'000;

    Histogram() : counts_(bucket_of(value_max_ns) + 1) {}

    // A value outside 0..60 s is counted as out of range and never moved into a bucket.
    void record(int64_t value_ns, uint64_t count = 1) {
        total_ += count;
        if (value_ns < 0 || value_ns > value_max_ns) [[unlikely]] {
            out_of_range_ += count;
            return;
        }
        counts_[bucket_of(value_ns)] += count;
        sum_ns_ += static_cast<double>(value_ns) * static_cast<double>(count);
        if (value_ns < min_ns_) min_ns_ = value_ns;
        if (value_ns > max_ns_) max_ns_ = value_ns;
    }

    void merge(const Histogram& other);
    void clear();

    uint64_t total() const { return total_; }
    uint64_t out_of_range() const { return out_of_range_; }
    int64_t min_ns() const { return total_ == out_of_range_ ? 0 : min_ns_; }
    int64_t max_ns() const { return max_ns_; }
    double mean_ns() const;

    // Nearest rank, `percent` in 0..100. Values out of range rank above all others and are reported
    // as value_max_ns. 0 when nothing was recorded.
    int64_t percentile_ns(double percent) const;

    // Calls visit(lowest value of the bucket in ns, count) for every bucket that is not empty.
    template <class Visit>
    void each_bucket(Visit visit) const {
        for (size_t i = 0; i < counts_.size(); ++i) {
            if (counts_[i] != 0) visit(lowest_of(i), counts_[i]);
        }
    }

  private:
    static constexpr size_t half = 1024;

    static constexpr size_t bucket_of(int64_t value_ns) {
        const auto value = static_cast<uint64_t>(value_ns);
        if (value < 2 * half) return value;
        const auto shift = static_cast<size_t>(std::bit_width(value)) - 11;
        return 2 * half + (shift - 1) * half + ((value >> shift) - half);
    }
    static int64_t lowest_of(size_t bucket);
    static int64_t highest_of(size_t bucket);

    std::vector<uint64_t> counts_;
    uint64_t total_ = 0;
    uint64_t out_of_range_ = 0;
    double sum_ns_ = 0;
    int64_t min_ns_ = std::numeric_limits<int64_t>::max();
    int64_t max_ns_ = 0;
};

}  // namespace millrace::load
