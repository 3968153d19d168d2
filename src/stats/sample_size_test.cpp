#include "stats/sample_size.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/distributions.h"

namespace fiel::stats {
namespace {

TEST(SampleSize, WithoutALossTheRuleOfThreeHolds) {
  EXPECT_EQ(zero_loss_samples({0.01, 0.05}), 299);
  EXPECT_EQ(zero_loss_samples({0.005, 0.05}), 598);
  EXPECT_EQ(zero_loss_samples({0.001, 0.05}), 2995);
}

TEST(SampleSize, AtSmallerAlphaTheScoreTestNeedsMoreThanTheExactOne) {
  EXPECT_EQ(zero_loss_samples({0.01, 0.025}), 381);
}

TEST(SampleSize, OneSampleLessProvesNothing) {
  for (double margin : {0.3, 0.05, 0.01, 0.003}) {
    for (double alpha : {0.2, 0.05, 0.025, 0.0076}) {
      const auto n = static_cast<double>(*zero_loss_samples({margin, alpha}));
      EXPECT_GT(paired_lower_bound({0, 0, n}, alpha), -margin);
      EXPECT_LE(paired_lower_bound({0, 0, n - 1}, alpha), -margin) << margin << " " << alpha;
    }
  }
}

TEST(SampleSize, NoMarginIsNeverProvenAndAWholeOneAtOnce) {
  EXPECT_FALSE(zero_loss_samples({0.0, 0.05}));
  EXPECT_FALSE(zero_loss_samples({std::nan(""), 0.05}));
  EXPECT_FALSE(zero_loss_samples({1e-16, 0.05}));
  EXPECT_EQ(zero_loss_samples({1.0, 0.05}), 1);
}

TEST(SampleSize, RealScoresCountTheMarginInRanges) {
  EXPECT_EQ(zero_loss_samples({0.01, 0.05}, 1.0), 299);
  EXPECT_EQ(zero_loss_samples({1.0, 0.05}, 100.0), 299);
  EXPECT_EQ(zero_loss_samples({5.0, 0.05}, 1.0), 2);
}

TEST(SampleSize, PowerAgreesWithItsFormula) {
  EXPECT_EQ(samples_for_power({{0.01, 0.05}, 0.02, 0.8}), 1237);
  EXPECT_EQ(samples_for_power({{0.005, 0.05}, 0.02, 0.8}), 4947);
  EXPECT_EQ(samples_for_power({{0.001, 0.05}, 0.02, 0.8}), 123652);
  // Six slices that must all pass, at the first nominee's alpha.
  EXPECT_EQ(samples_for_power({{0.01, 0.025}, 0.02, 1 - 0.2 / 6}),
            std::ceil(14.393514986 * 0.02 / 0.0001));
}

TEST(SampleSize, PowerNeverPromisesLessThanTheZeroLossNumber) {
  EXPECT_EQ(samples_for_power({{0.01, 0.05}, 0.0, 0.8}), 299);
}

TEST(SampleSize, AFeltLossCostsSamplesAndOneAtTheMarginAllOfThem) {
  const PowerPlan plan{{0.01, 0.05}, 0.02, 0.8};
  PowerPlan worse = plan, hopeless = plan;
  worse.true_gain = -0.005;
  hopeless.true_gain = -0.01;
  EXPECT_GT(*samples_for_power(worse), 3 * *samples_for_power(plan));
  EXPECT_FALSE(samples_for_power(hopeless));
}

TEST(SampleSize, ObservedRatesSayHowManySamplesWouldDecide) {
  const Requirement requirement{0.01, 0.05};
  const PairedCounts observed{3, 4, 300};  // estimate -0.33 %: not proven with 300
  ASSERT_LE(paired_lower_bound(observed, 0.05), -0.01);
  const auto n = samples_to_decide(observed, requirement);
  ASSERT_TRUE(n);
  // Z grows with the root of n, so n = 300 (z/Z)^2.
  const double ratio = normal_quantile(0.95) / score_statistic(observed, -0.01);
  EXPECT_EQ(*n, static_cast<std::int64_t>(std::ceil(300 * ratio * ratio)));
}

TEST(SampleSize, AnEstimateAtTheMarginIsNeverDecided) {
  EXPECT_FALSE(samples_to_decide({0, 3, 300}, {0.01, 0.05}));
  EXPECT_FALSE(samples_to_decide({0, 9, 300}, {0.01, 0.05}));
}

TEST(SampleSize, NothingLostYetNeedsTheZeroLossNumber) {
  EXPECT_EQ(samples_to_decide({0, 0, 50}, {0.01, 0.05}), 299);
}

}  // namespace
}  // namespace fiel::stats
