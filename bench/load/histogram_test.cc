#include "bench/load/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace millrace::load {
namespace {

// The definition that percentile_ns() approximates.
int64_t nearest_rank(std::vector<int64_t> values, double percent) {
    std::sort(values.begin(), values.end());
    const double rank = std::ceil(percent / 100 * static_cast<double>(values.size()));
    return values[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

TEST(Histogram, is_empty_at_first) {
    const Histogram histogram;
    EXPECT_EQ(histogram.total(), 0u);
    EXPECT_EQ(histogram.percentile_ns(50), 0);
    EXPECT_EQ(histogram.min_ns(), 0);
    EXPECT_EQ(histogram.max_ns(), 0);
    EXPECT_EQ(histogram.mean_ns(), 0);
}

TEST(Histogram, keeps_three_digits_from_1_us_to_60_s) {
    for (double value = 1000; value <= 60e9; value *= 1.037) {
        // The larger value keeps the smaller one's percentile from being cut to the maximum.
        Histogram histogram;
        const auto value_ns = static_cast<int64_t>(value);
        histogram.record(value_ns);
        histogram.record(Histogram::value_max_ns);
        const auto seen_ns = static_cast<double>(histogram.percentile_ns(50));
        EXPECT_NEAR(seen_ns, value, value / 1000) << value_ns;
    }
}

TEST(Histogram, agrees_with_sorted_values) {
    std::mt19937_64 random(7);
    std::lognormal_distribution<double> latency(12, 1.5);
    Histogram histogram;
    std::vector<int64_t> values;
    for (int i = 0; i < 20'000; ++i) {
        values.push_back(std::min<int64_t>(static_cast<int64_t>(latency(random)), 59'000'000'000));
        histogram.record(values.back());
    }
    for (const double percent : {0.0, 1.0, 50.0, 90.0, 95.0, 97.5, 99.0, 99.9, 100.0}) {
        const auto exact = static_cast<double>(nearest_rank(values, percent));
        EXPECT_NEAR(static_cast<double>(histogram.percentile_ns(percent)), exact, exact / 1000)
            << percent;
    }
    EXPECT_EQ(histogram.min_ns(), *std::min_element(values.begin(), values.end()));
    EXPECT_EQ(histogram.max_ns(), *std::max_element(values.begin(), values.end()));
}

TEST(Histogram, takes_the_nearest_rank) {
    Histogram histogram;
    for (const int64_t value : {10, 20, 30, 40})
        histogram.record(value);
    EXPECT_EQ(histogram.percentile_ns(25), 10);
    EXPECT_EQ(histogram.percentile_ns(25.1), 20);
    EXPECT_EQ(histogram.percentile_ns(50), 20);
    EXPECT_EQ(histogram.percentile_ns(100), 40);
}

TEST(Histogram, counts_what_is_out_of_range) {
    Histogram histogram;
    histogram.record(100, 3);
    histogram.record(Histogram::value_max_ns);
    histogram.record(Histogram::value_max_ns + 1, 2);
    histogram.record(-1);
    EXPECT_EQ(histogram.total(), 7u);
    EXPECT_EQ(histogram.out_of_range(), 3u);
    EXPECT_EQ(histogram.percentile_ns(100), Histogram::value_max_ns);
    EXPECT_EQ(histogram.min_ns(), 100);
}

TEST(Histogram, merges) {
    Histogram both;
    Histogram left;
    Histogram right;
    for (int64_t value = 1; value < 3'000'000; value += 997) {
        both.record(value);
        (value % 2 == 0 ? left : right).record(value);
    }
    left.merge(right);
    EXPECT_EQ(left.total(), both.total());
    EXPECT_EQ(left.min_ns(), both.min_ns());
    EXPECT_EQ(left.max_ns(), both.max_ns());
    EXPECT_DOUBLE_EQ(left.mean_ns(), both.mean_ns());
    EXPECT_EQ(left.percentile_ns(99), both.percentile_ns(99));
    left.clear();
    EXPECT_EQ(left.total(), 0u);
}

TEST(Histogram, lists_buckets_in_order_and_without_loss) {
    Histogram histogram;
    histogram.record(5, 2);
    histogram.record(1'000'003);
    std::vector<std::pair<int64_t, uint64_t>> seen;
    histogram.each_bucket(
        [&](int64_t lowest, uint64_t count) { seen.emplace_back(lowest, count); });
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0], std::pair(int64_t{5}, uint64_t{2}));
    EXPECT_LE(seen[1].first, 1'000'003);
    EXPECT_GT(seen[1].first, 999'000);
    EXPECT_EQ(seen[1].second, 1u);
}

}  // namespace
}  // namespace millrace::load
