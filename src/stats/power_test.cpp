#include "stats/power.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/rng.h"
#include "stats/distributions.h"
#include "stats/e_process.h"

namespace fiel::stats {
namespace {

// All 2^n orders of wins and losses, each through the test that tune itself uses.
double by_enumeration(double win_chance, double alpha, int sessions) {
  double sum = 0;
  for (std::uint32_t order = 0; order < (1U << sessions); ++order) {
    PairTest test(alpha);
    for (int i = 0; i < sessions; ++i) test.add_session(((order >> i) & 1U) != 0);
    const int won = std::popcount(order);
    if (test.confirmed()) sum += std::pow(win_chance, won) * std::pow(1 - win_chance, sessions - won);
  }
  return sum;
}

TEST(Power, EightOfEightIsTheEighthPower) {
  EXPECT_NEAR(confirmation_chance(0.9, 0.025, 8), std::pow(0.9, 8), 1e-12);
  EXPECT_NEAR(*needed_win_chance(0.8, 0.025, 8), std::pow(0.8, 1.0 / 8), 1e-9);
  EXPECT_EQ(confirmation_chance(1.0, 0.025, 7), 0.0);
  EXPECT_FALSE(needed_win_chance(0.8, 0.025, 7));
}

TEST(Power, AgreesWithAllOrdersOfWinsAndLosses) {
  for (const double chance : {0.5, 0.7, 0.9}) {
    for (const int sessions : {9, 12, 16}) {
      EXPECT_NEAR(confirmation_chance(chance, 0.025, sessions), by_enumeration(chance, 0.025, sessions), 1e-12)
          << chance << " " << sessions;
    }
  }
}

TEST(Power, AFairCoinStaysBelowAlphaHoweverLongOneLooks) {
  EXPECT_LT(confirmation_chance(0.5, 0.05, 400), 0.05);
  EXPECT_GT(confirmation_chance(0.5, 0.05, 400), 0.02);
}

TEST(Power, TheSmallestGainIsConfirmedAsOftenAsPromised) {
  const ProofConditions conditions{.alpha = 0.025, .sessions = 20, .deviation = 0.02, .min_gain = 0.01, .power = 0.8};
  const double gain = smallest_provable_gain(conditions).value();
  EXPECT_GT(gain, 0.01);
  Rng rng(11);
  constexpr int kRuns = 20'000;
  int confirmed = 0;
  for (int run = 0; run < kRuns; ++run) {
    PairTest test(conditions.alpha);
    for (std::int64_t i = 0; i < conditions.sessions && !test.confirmed(); ++i) {
      test.add_session(session_is_won(std::log1p(gain) + conditions.deviation * rng.normal(), conditions.min_gain));
    }
    confirmed += test.confirmed() ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(confirmed) / kRuns, 0.8, 0.01);
}

TEST(Power, MoreTimeAndLessNoiseProveSmallerGains) {
  const auto gain = [](std::int64_t sessions, double deviation) {
    return smallest_provable_gain({.alpha = 0.025, .sessions = sessions, .deviation = deviation}).value();
  };
  EXPECT_LT(gain(25, 0.02), gain(8, 0.02));
  EXPECT_LT(gain(25, 0.01), gain(25, 0.02));
  EXPECT_NEAR(gain(25, 0), 0.01, 1e-12);
  // By hand: 8 of 8 with deviation 2 %: ln 1.01 + 0.02 * z(0.97249).
  EXPECT_NEAR(gain(8, 0.02), std::expm1(std::log1p(0.01) + 0.02 * normal_quantile(std::pow(0.8, 0.125))), 1e-9);
}

TEST(Power, WhatIsNoNumberProvesNothing) {
  EXPECT_FALSE(smallest_provable_gain({.alpha = 0.025, .sessions = 25, .deviation = std::nan("")}));
}

}  // namespace
}  // namespace fiel::stats
