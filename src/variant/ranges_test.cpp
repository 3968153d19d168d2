#include "variant/ranges.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace fiel {
namespace {

TEST(UInt8Scale, HoldsZeroAndBothEnds) {
  const UInt8Scale both = uint8_scale({-1, 3});
  EXPECT_FLOAT_EQ(both.scale, 4.0F / 255);
  EXPECT_EQ(both.zero_point, 64);
  EXPECT_EQ(uint8_scale({2, 3}).zero_point, 0);  // reaches down to zero
  EXPECT_EQ(uint8_scale({-3, -2}).zero_point, 255);
  EXPECT_FLOAT_EQ(uint8_scale({5, 5}).scale, 5.0F / 255);
  EXPECT_EQ(uint8_scale({0, 0}).scale, 1.0F);
  EXPECT_EQ(uint8_scale({0, 1e-45}).scale, 1.0F);  // no normal number
}

TEST(Int8Scale, ReachesToTheFartherEnd) {
  EXPECT_FLOAT_EQ(int8_scale({-1, 3}), 3.0F / 127);
  EXPECT_FLOAT_EQ(int8_scale({-4, 3}), 4.0F / 127);
  EXPECT_EQ(int8_scale({0, 0}), 1.0F);
}

// Evenly spread from 0 to 1, and one value far away.
Histogram with_an_outlier(double outlier) {
  Histogram histogram({0, outlier});
  std::vector<float> values(10000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 10000;
  values.push_back(static_cast<float>(outlier));
  histogram.add(values);
  return histogram;
}

TEST(Histogram, CountsWhatIsFinite) {
  Histogram histogram({-1, 1});
  histogram.add(std::vector<float>{0, 0.5F, std::nanf(""), INFINITY, -1, 1, 7});
  EXPECT_EQ(histogram.total(), 5);
  EXPECT_EQ(Histogram({0, 0}).percentile(0.99).high, 0);
}

TEST(Histogram, APercentileLeavesOutAShareAtBothEnds) {
  const Histogram histogram = with_an_outlier(8);
  EXPECT_NEAR(histogram.percentile(0.999).high, 1, 0.01);
  EXPECT_EQ(histogram.percentile(1).high, 8);
  EXPECT_EQ(histogram.percentile(0.999).low, 0);  // zero is held in any case
}

TEST(Histogram, SquaredErrorWeighsClippingAgainstRounding) {
  // Clipping one value of 10000 from 8 to 1 costs 49; rounding by steps of 8/255 instead of 1/255 costs 10000 * (64 - 1) / 255^2 / 12.
  EXPECT_GT(with_an_outlier(8).least_squared_error().high, 7.5);
  Histogram dense({0, 8});
  std::vector<float> values(3000000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 3000000;
  values.push_back(8);
  dense.add(values);
  const double high = dense.least_squared_error().high;
  EXPECT_LT(high, 4);
  EXPECT_GE(high, 1);
}

TEST(Histogram, EntropyLeavesOutALoneOutlier) {
  const Range range = with_an_outlier(8).least_divergence();
  EXPECT_GE(range.high, 1);
  EXPECT_LT(range.high, 1.3);
  const Range whole = with_an_outlier(1).least_divergence();
  EXPECT_GT(whole.high, 0.95);
}

TEST(Histogram, BothEndsOfASignedRangeAreFound) {
  Histogram histogram({-20, 10});
  Rng rng = Rng(1);
  std::vector<float> values(200000);
  for (float& value : values) value = static_cast<float>(rng.uniform01() + rng.uniform01() + rng.uniform01() - 1.5);
  values.push_back(-20);
  values.push_back(10);
  histogram.add(values);
  for (const Range& range : {histogram.percentile(0.9999), histogram.least_squared_error(), histogram.least_divergence()}) {
    EXPECT_LE(range.low, -1.2);
    EXPECT_GE(range.high, 0.7);
    EXPECT_LT(range.high - range.low, 29);
  }
}

}  // namespace
}  // namespace fiel
