#include "stats/spending.h"

#include <gtest/gtest.h>

namespace fiel::stats {
namespace {

TEST(Spending, NomineesHalveTheErrorEachTime) {
  EXPECT_DOUBLE_EQ(nominee_alpha(0.05, 1), 0.025);
  EXPECT_DOUBLE_EQ(nominee_alpha(0.05, 3), 0.00625);
}

TEST(Spending, OpeningsFollowTheBaselSeries) {
  EXPECT_NEAR(opening_alpha(0.05, 1), 0.030396, 1e-6);
  EXPECT_NEAR(opening_alpha(0.05, 2), 0.007599, 1e-6);
  EXPECT_NEAR(opening_alpha(0.05, 3), 0.003377, 1e-6);
}

TEST(Spending, NeitherSumEverExceedsAlpha) {
  double nominees = 0, openings = 0;
  for (std::int64_t j = 1; j <= 100000; ++j) openings += opening_alpha(0.05, j);
  for (std::int64_t j = 1; j <= 50; ++j) nominees += nominee_alpha(0.05, j);
  EXPECT_LE(openings, 0.05);
  EXPECT_GT(openings, 0.0499);
  EXPECT_LE(nominees, 0.05);
}

TEST(Spending, TheSmallerOfTheTwoHolds) {
  EXPECT_DOUBLE_EQ(holdout_alpha(0.05, {.nominee = 1, .opening = 1}), 0.025);
  EXPECT_DOUBLE_EQ(holdout_alpha(0.05, {.nominee = 2, .opening = 2}), opening_alpha(0.05, 2));
  EXPECT_DOUBLE_EQ(holdout_alpha(0.05, {.nominee = 1, .opening = 9}), opening_alpha(0.05, 9));
}

}  // namespace
}  // namespace fiel::stats
