#include "stats/regression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/rng.h"

namespace fiel::stats {
namespace {

constexpr double kGain = 0.01;

StillFaster word_of(const std::vector<double>& log_ratios) { return judge_speed_regression(log_ratios, kGain).word; }

TEST(SpeedRegression, WhatIsFarAheadIsStillFaster) { EXPECT_EQ(word_of(std::vector<double>(8, 0.4)), StillFaster::kYes); }

TEST(SpeedRegression, WhatLostAllOrAllButOneIsNotFasterAnyMore) {
  std::vector<double> ratios(8, 0.0);
  EXPECT_EQ(word_of(ratios), StillFaster::kNo);
  ratios[3] = 0.5;
  EXPECT_EQ(word_of(ratios), StillFaster::kNo);
  ratios[4] = 0.5;
  EXPECT_EQ(word_of(ratios), StillFaster::kDoubtful);
}

TEST(SpeedRegression, AGainOfExactlyTheLeastOneIsNoGain) {
  EXPECT_EQ(word_of(std::vector<double>(8, std::log1p(kGain))), StillFaster::kNo);
}

TEST(SpeedRegression, TheAlarmIsThatTheWholeIntervalLiesBelow) {
  const std::vector<double> ratios = {-0.02, -0.01, 0.0, 0.001, 0.002, 0.003, 0.009, 0.3};
  const SpeedRegression result = judge_speed_regression(ratios, kGain);
  ASSERT_TRUE(result.interval);
  EXPECT_DOUBLE_EQ(result.interval->high, 0.009);
  EXPECT_NEAR(result.interval->confidence, 1 - 18.0 / 256, 1e-12);
  EXPECT_EQ(result.word, StillFaster::kNo);
  EXPECT_EQ(result.won, 1);
}

TEST(SpeedRegression, TooFewSessionsGiveNoWord) {
  EXPECT_EQ(word_of(std::vector<double>(7, -1.0)), StillFaster::kUnknown);
  EXPECT_EQ(word_of({}), StillFaster::kUnknown);
}

TEST(SpeedRegression, SessionsWithoutANumberAreLost) {
  EXPECT_NE(word_of(std::vector<double>(8, std::numeric_limits<double>::quiet_NaN())), StillFaster::kYes);
}

// 9/256 where half of the sessions are won: 352 of 10,000 with a standard deviation of 18.
TEST(SpeedRegression, CriesWolfAsRarelyAsItSays) {
  Rng rng(20);
  int at_the_edge = 0, of_a_winner = 0, noticed = 0;
  for (int trial = 0; trial < 10000; ++trial) {
    std::vector<double> edge, winner, lost;
    for (std::int64_t i = 0; i < kRegressionSessions; ++i) {
      edge.push_back(std::log1p(kGain) + 0.02 * rng.normal());
      winner.push_back(std::log1p(kGain) + 0.02 * (0.842 + rng.normal()));  // wins 8 of 10
      lost.push_back(0.005 * rng.normal());
    }
    at_the_edge += word_of(edge) == StillFaster::kNo ? 1 : 0;
    of_a_winner += word_of(winner) == StillFaster::kNo ? 1 : 0;
    noticed += word_of(lost) == StillFaster::kNo ? 1 : 0;
  }
  EXPECT_NEAR(at_the_edge, 352, 75);
  EXPECT_LE(of_a_winner, 6);   // 0.84 expected
  EXPECT_GE(noticed, 9700);    // as fast as the comparator, noise of half a percent: 98.5 %
}

}  // namespace
}  // namespace fiel::stats
