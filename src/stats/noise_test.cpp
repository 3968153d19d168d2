#include "stats/noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace fiel::stats {
namespace {

const std::vector<double> kSeries{1.0, 2.0, 1.7, 3.0, 2.5, 2.4};

TEST(Noise, AgreesWithScipy) {
  EXPECT_NEAR(*autocorrelation_lag1(kSeries), 0.110655737705, 1e-11);
  EXPECT_NEAR(median_absolute_deviation(kSeries), 0.593040887402, 1e-11);
}

TEST(Noise, TwiceAsFastAndHalfAsFastAreEquallyFarFromNothing) {
  EXPECT_NEAR(log_speedup(2.0, 1.0), std::log(2.0), 1e-15);
  EXPECT_NEAR(log_speedup(1.0, 2.0), -std::log(2.0), 1e-15);
  EXPECT_NEAR(speedup_from_log(log_speedup(5.0, 4.0)), 1.25, 1e-15);
}

TEST(Noise, TimesThatAreNotPositiveGiveNoRatio) {
  EXPECT_TRUE(std::isnan(log_speedup(0.0, 1.0)));
  EXPECT_TRUE(std::isnan(log_speedup(1.0, -1.0)));
  EXPECT_TRUE(std::isnan(log_speedup(std::nan(""), 1.0)));
}

TEST(Noise, ASessionIsTheMedianOfItsRounds) {
  const std::vector<double> comparator{2.0, 20.0, 3.0}, candidate{1.0, 1.0, 2.0};
  EXPECT_NEAR(median_log_speedup(comparator, candidate), std::log(2.0), 1e-15);
}

TEST(Noise, MeansAndDeviations) {
  EXPECT_NEAR(geometric_mean(std::vector{1.0, 4.0, 16.0}), 4.0, 1e-12);
  EXPECT_NEAR(mean(kSeries), 2.1, 1e-12);
  EXPECT_NEAR(*standard_deviation(std::vector{2.0, 4.0, 9.0}), std::sqrt(13.0), 1e-12);
  EXPECT_FALSE(standard_deviation(std::vector{1.0}));
}

TEST(Noise, OneWildValueDoesNotMoveTheMedianAbsoluteDeviation) {
  std::vector<double> values{1.0, 1.1, 0.9, 1.05, 0.95, 1.02, 0.98};
  const double before = median_absolute_deviation(values);
  values.push_back(1e9);
  EXPECT_LT(median_absolute_deviation(values), 3 * before);
}

TEST(Noise, EqualValuesHaveNoAutocorrelation) {
  EXPECT_FALSE(autocorrelation_lag1(std::vector{2.0, 2.0, 2.0}));
  EXPECT_LT(*autocorrelation_lag1(std::vector{1.0, -1.0, 1.0, -1.0, 1.0, -1.0}), -0.7);
}

}  // namespace
}  // namespace fiel::stats
