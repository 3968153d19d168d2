#include "stats/noise_models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/noise.h"
#include "stats/quantiles.h"

namespace fiel::stats {
namespace {

std::vector<double> timings(NoiseKind kind, int count, std::uint64_t seed = 1) {
  NoisyMachine machine(kind, 0.01, seed);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(machine.next_timing());
  return values;
}

TEST(NoiseModels, TheSameSeedGivesTheSameWeather) {
  for (NoiseKind kind : kAllNoiseKinds) {
    EXPECT_EQ(timings(kind, 100), timings(kind, 100)) << to_string(kind);
    EXPECT_NE(timings(kind, 100), timings(kind, 100, 2)) << to_string(kind);
  }
}

TEST(NoiseModels, IidAndAr1HaveTheSameSpreadButNotTheSameMemory) {
  const auto iid = timings(NoiseKind::kIid, 20000), ar1 = timings(NoiseKind::kAr1, 20000);
  EXPECT_NEAR(*standard_deviation(iid), 0.01, 0.0005);
  EXPECT_NEAR(*standard_deviation(ar1), 0.01, 0.001);
  EXPECT_NEAR(*autocorrelation_lag1(iid), 0.0, 0.03);
  EXPECT_NEAR(*autocorrelation_lag1(ar1), 0.8, 0.03);
}

TEST(NoiseModels, DriftGrows) {
  const auto values = timings(NoiseKind::kLinearDrift, 1001);
  EXPECT_NEAR(values[1000] - values[0], 1.0, 0.02);
}

TEST(NoiseModels, TwoModesLieApart) {
  const auto values = timings(NoiseKind::kTwoMode, 10000);
  const auto slow = std::count_if(values.begin(), values.end(), [](double v) { return v > 0.015; });
  EXPECT_NEAR(static_cast<double>(slow), 5000, 1500);
}

TEST(NoiseModels, SpikesOnlyEverSlowDown) {
  const auto values = timings(NoiseKind::kSpikes, 10000);
  EXPECT_GT(*std::max_element(values.begin(), values.end()), 0.2);
  EXPECT_GT(*std::min_element(values.begin(), values.end()), -0.015);
  EXPECT_NEAR(median(values), 0.0, 0.001);
}

TEST(NoiseModels, TheNeighbourComesBackEveryForty) {
  const auto values = timings(NoiseKind::kPeriodicLoad, 4000);
  const auto loaded =
      std::count_if(values.begin(), values.end(), [](double v) { return v > 0.015; });
  EXPECT_NEAR(static_cast<double>(loaded), 1000, 5);
  for (std::size_t i = 0; i + 40 < values.size(); ++i) {
    EXPECT_EQ(values[i] > 0.015, values[i + 40] > 0.015);
  }
}

TEST(NoiseModels, OnlyOneKindGivesProcessesAnOffset) {
  for (NoiseKind kind : kAllNoiseKinds) {
    NoisyMachine machine(kind, 0.01, 5);
    EXPECT_EQ(machine.start_process() != 0.0, kind == NoiseKind::kProcessOffset) << to_string(kind);
  }
}

}  // namespace
}  // namespace fiel::stats
