#include "tune/plan.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace fiel {
namespace {

constexpr std::int64_t kFewestSessions = 8;

Costs some_costs(Rng& rng) {
  const double scale = 0.1 + 10 * rng.uniform01();
  return {.session_seconds_per_process = scale * rng.uniform01(),
          .gate_seconds = scale * 5 * rng.uniform01(),
          .holdout_seconds = scale * 5 * rng.uniform01(),
          .consistency_seconds = scale * rng.uniform01()};
}

TEST(Plan, WhatIsAffordableKeepsTheCheapestRaceAndProofWhole) {
  Rng rng(4);
  int affordable = 0;
  for (int i = 0; i < 2000; ++i) {
    const Costs costs = some_costs(rng);
    const double wall = 2000 * rng.uniform01(), spent = wall * rng.uniform01();
    const BudgetPlan plan = plan_budget(costs, spent, wall, kFewestSessions);
    EXPECT_EQ(plan.affordable, plan.least_wall_seconds <= wall);
    if (!plan.affordable) continue;
    ++affordable;
    EXPECT_GE(wall - plan.search_until, plan.proof_seconds + plan.least_race_seconds);
    EXPECT_GE(wall - plan.search_until, 0.2 * wall - 1e-9);
    EXPECT_GE(plan.entrants, 2);
  }
  EXPECT_GT(affordable, 500);
}

TEST(Plan, APhaseThatCantDoItsLeastMakesTheRunUnaffordable) {
  const Costs costs{.session_seconds_per_process = 1, .gate_seconds = 2, .holdout_seconds = 3, .consistency_seconds = 1};
  const auto with = [&](const PhaseLimits& limits) { return plan_budget(costs, 10, 1000, kFewestSessions, limits); };
  const BudgetPlan free = with({});
  EXPECT_TRUE(free.affordable);
  EXPECT_TRUE(with({.proof_seconds = free.proof_seconds}).affordable);
  EXPECT_FALSE(with({.proof_seconds = free.proof_seconds - 0.1}).affordable);
  EXPECT_TRUE(with({.race_seconds = free.least_race_seconds}).affordable);
  EXPECT_FALSE(with({.race_seconds = free.least_race_seconds - 0.1}).affordable);
}

TEST(Plan, ALimitOfTheRaceMakesItSmallerAndOfTheGateLeavesTheSearchMore) {
  const Costs costs{.session_seconds_per_process = 1, .gate_seconds = 10, .holdout_seconds = 3, .consistency_seconds = 1};
  const BudgetPlan free = plan_budget(costs, 10, 1000, kFewestSessions);
  const BudgetPlan small_race = plan_budget(costs, 10, 1000, kFewestSessions, {.race_seconds = 15});
  EXPECT_LT(small_race.entrants, free.entrants);
  EXPECT_LE(3 * (small_race.entrants + 1) * costs.session_seconds_per_process, 15);
  EXPECT_GT(plan_budget(costs, 10, 1000, kFewestSessions, {.gate_seconds = 20}).search_until, free.search_until);
}

}  // namespace
}  // namespace fiel
