#include "stats/real_valued.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"

namespace fiel::stats {
namespace {

const std::vector<double> kDifferences{0.1,   -0.2, 0.05, 0.0,   -0.3, 0.12,
                                       -0.01, 0.0,  0.07, -0.15, 0.02, -0.04};

TEST(RealValued, TheTBoundAgreesWithScipy) {
  EXPECT_NEAR(t_lower_bound(sum_units(kDifferences, {}), 0.05), -0.0940524473328, 1e-10);
}

TEST(RealValued, TheClusteredTBoundAgreesWithScipy) {
  const std::vector<std::int64_t> groups{7, 7, 7, 1, 4, 4, 4, 4, 4, 9, 9, 9};
  EXPECT_NEAR(t_lower_bound(sum_units(kDifferences, groups), 0.05), -0.0506618511582, 1e-10);
}

TEST(RealValued, TheBootstrapAgreesWithScipyWithinItsOwnNoise) {
  auto mirrored = kDifferences;
  for (double& difference : mirrored) difference = -difference;
  double low = 0.0, high = 0.0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    low += bca_lower_bound(sum_units(kDifferences, {}), {.alpha = 0.05, .seed = seed}) / 10;
    high -= bca_lower_bound(sum_units(mirrored, {}), {.alpha = 0.05, .seed = seed}) / 10;
  }
  // Resampled means of these numbers tie with the estimate in one case of a hundred; scipy counts
  // such a tie as above or below as rounding has it, hence the wide tolerance.
  EXPECT_NEAR(low, -0.0966666666667, 0.002);
  EXPECT_NEAR(high, 0.0216666666667, 0.002);
}

TEST(RealValued, TheSameSeedGivesTheSameBound) {
  const auto units = sum_units(kDifferences, {});
  EXPECT_EQ(bca_lower_bound(units, {0.05, 3}), bca_lower_bound(units, {0.05, 3}));
  EXPECT_NE(bca_lower_bound(units, {0.05, 3}), bca_lower_bound(units, {0.05, 4}));
}

TEST(RealValued, GroupsKeepTheMeanOverSamples) {
  const std::vector<double> differences{1.0, 1.0, 1.0, -1.0};
  const std::vector<std::int64_t> groups{5, 5, 5, 2};
  const auto units = sum_units(differences, groups);
  EXPECT_EQ(units.sums.size(), 2u);
  EXPECT_DOUBLE_EQ(units.mean, 0.5);
}

TEST(RealValued, CopiesOfASampleInAGroupAddNoConfidence) {
  std::vector<double> differences, copies;
  std::vector<std::int64_t> groups;
  Rng rng(1);
  for (int unit = 0; unit < 30; ++unit) {
    differences.push_back(0.1 * rng.normal());
    for (int copy = 0; copy < 10; ++copy) {
      copies.push_back(differences.back());
      groups.push_back(unit);
    }
  }
  const auto single = sum_units(differences, {}), grouped = sum_units(copies, groups);
  EXPECT_NEAR(t_lower_bound(single, 0.05), t_lower_bound(grouped, 0.05), 1e-12);
  EXPECT_NEAR(bca_lower_bound(single, {0.05, 2}), bca_lower_bound(grouped, {0.05, 2}), 1e-12);
  EXPECT_LT(t_lower_bound(grouped, 0.05), t_lower_bound(sum_units(copies, {}), 0.05));
}

TEST(RealValued, EqualDifferencesDoNotGiveABoundOfZeroWidth) {
  const std::vector<double> none(299, 0.0), small(299, -0.002);
  EXPECT_NEAR(mean_lower_bound(sum_units(none, {}), {0.05, 1.0}, 1), -0.0099691467929, 1e-9);
  EXPECT_NEAR(mean_lower_bound(sum_units(small, {}), {0.05, 1.0}, 1), -0.0119691467929, 1e-9);
}

TEST(RealValued, AGainDoesNotMakeUpForWhatMayBeUnseen) {
  const std::vector<double> gain(299, 0.5);
  EXPECT_NEAR(mean_lower_bound(sum_units(gain, {}), {0.05, 1.0}, 1), -0.0099691467929, 1e-9);
}

TEST(RealValued, TheUpperBoundLeavesRoomForUnseenGainsButCanLieBelowZero) {
  const std::vector<double> loss(299, -0.5);
  EXPECT_NEAR(mean_upper_bound(sum_units(loss, {}), {0.05, 1.0}, 1), -0.5 + 0.0099691467929, 1e-9);
}

TEST(RealValued, OneUnitShowsNothing) {
  const std::vector<std::int64_t> groups{1, 1};
  EXPECT_EQ(mean_lower_bound(sum_units(std::vector{0.1, 0.2}, groups), {0.05, 2.0}, 1), -2.0);
}

TEST(RealValued, TinyAlphaDrawsMoreResamplesAndLiesLower) {
  const auto units = sum_units(kDifferences, {});
  EXPECT_LT(bca_lower_bound(units, {0.0005, 1}), bca_lower_bound(units, {0.01, 1}));
}

}  // namespace
}  // namespace fiel::stats
