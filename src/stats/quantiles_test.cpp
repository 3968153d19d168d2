#include "stats/quantiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace fiel::stats {
namespace {

const std::vector<double> kValues{3.1, 1.2, 9.7, 4.4, 5.0, 2.6, 8.3};

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Quantiles, AgreeWithNumpy) {
  EXPECT_NEAR(quantile_type7(kValues, 0.9), 8.86, 1e-12);
  EXPECT_NEAR(quantile_type7(kValues, 0.25), 2.85, 1e-12);
  EXPECT_NEAR(quantile_type7(one_to(4), 0.9), 3.7, 1e-12);
  EXPECT_EQ(quantile_type7(kValues, 0.0), 1.2);
  EXPECT_EQ(quantile_type7(kValues, 1.0), 9.7);
}

TEST(Quantiles, MedianIsTheMiddleOrTheMeanOfTheTwoMiddleValues) {
  EXPECT_EQ(median(kValues), 4.4);
  EXPECT_EQ(median(one_to(4)), 2.5);
  EXPECT_EQ(median(one_to(1)), 1.0);
}

TEST(Quantiles, OneNaNMakesTheMedianNaN) {
  const std::vector<double> values{1.0, std::nan(""), 3.0};
  EXPECT_TRUE(std::isnan(median(values)));
  EXPECT_FALSE(second_smallest_to_second_largest(std::vector<double>{1, 2, 3, std::nan("")}));
}

// MLPerf's early-stopping table at 99 %: totals for no and for one query over the bound.
TEST(Quantiles, PercentileBoundsNeedAsManyValuesAsMlperfSays) {
  struct Row {
    double p;
    int none_over, one_over;
  };
  for (const auto& [p, none_over, one_over] :
       {Row{0.90, 44, 64}, Row{0.95, 90, 130}, Row{0.99, 459, 662}, Row{0.999, 4603, 6636}}) {
    EXPECT_FALSE(percentile_upper_bound(one_to(none_over - 1), p, 0.99)) << p;
    const auto largest = percentile_upper_bound(one_to(none_over), p, 0.99);
    ASSERT_TRUE(largest) << p;
    EXPECT_EQ(largest->rank, none_over);
    EXPECT_EQ(percentile_upper_bound(one_to(one_over - 1), p, 0.99)->rank, one_over - 1);
    EXPECT_EQ(percentile_upper_bound(one_to(one_over), p, 0.99)->rank, one_over - 1);
  }
}

TEST(Quantiles, PercentileBoundsSayTheConfidenceThatReallyHolds) {
  EXPECT_NEAR(percentile_upper_bound(one_to(44), 0.9, 0.99)->confidence, 0.990302262702, 1e-11);
  EXPECT_NEAR(percentile_upper_bound(one_to(64), 0.9, 0.99)->confidence, 0.990436850287, 1e-11);
  EXPECT_NEAR(percentile_upper_bound(one_to(662), 0.99, 0.99)->confidence, 0.990086014355, 1e-11);
}

TEST(Quantiles, NoValuesGiveNoBound) {
  EXPECT_FALSE(percentile_upper_bound({}, 0.9, 0.99));
  EXPECT_FALSE(median_interval({}, 0.95));
}

TEST(Quantiles, LowerBoundMirrorsTheUpperBound) {
  const auto values = one_to(200);
  const auto lower = percentile_lower_bound(values, 0.1, 0.99);
  const auto upper = percentile_upper_bound(values, 0.9, 0.99);
  ASSERT_TRUE(lower && upper);
  EXPECT_EQ(lower->rank, 201 - upper->rank);
  EXPECT_EQ(lower->value, static_cast<double>(lower->rank));
  EXPECT_DOUBLE_EQ(lower->confidence, upper->confidence);
}

TEST(Quantiles, PercentileIntervalOfTheMedianIsTheMedianInterval) {
  const auto values = one_to(31);
  const auto interval = percentile_interval(values, 0.5, 0.95);
  const auto symmetric = median_interval(values, 0.95);
  ASSERT_TRUE(interval && symmetric);
  EXPECT_EQ(interval->low_rank, symmetric->low_rank);
  EXPECT_EQ(interval->high_rank, symmetric->high_rank);
  EXPECT_NEAR(interval->confidence, symmetric->confidence, 1e-12);
}

TEST(Quantiles, MedianIntervalOfTenIsTheSecondToTheNinth) {
  std::vector<double> values{5, 3, 9, 1, 7, 10, 2, 8, 4, 6};
  const auto interval = median_interval(values, 0.95);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low, 2);
  EXPECT_EQ(interval->high, 9);
  EXPECT_NEAR(interval->confidence, 1.0 - 22.0 / 1024, 1e-12);
  EXPECT_NEAR(second_smallest_to_second_largest(values)->confidence, 0.979, 5e-4);
}

TEST(Quantiles, FiveValuesAreTooFewForAMedianAt95Percent) {
  EXPECT_FALSE(median_interval(one_to(5), 0.95));
  EXPECT_EQ(median_interval(one_to(6), 0.95)->low_rank, 1);
  EXPECT_FALSE(second_smallest_to_second_largest(one_to(3)));
}

}  // namespace
}  // namespace fiel::stats
