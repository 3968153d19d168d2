#include "decide/best_so_far.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fiel {
namespace {

CandidateState& add(Standing& standing, int id, CandidateStatus status, double ratio_at_first_sight) {
  CandidateState& state = standing.at(id);
  state.status = status;
  state.screen_log_ratio = std::log(ratio_at_first_sight);
  return state;
}

Standing begun() {
  Standing standing;
  standing.comparator = 2;
  add(standing, 2, CandidateStatus::kAdmissible, 1);
  return standing;
}

TEST(BestSoFar, SaysNothingBeforeAnythingIsKnown) {
  EXPECT_EQ(best_so_far(Standing()), "");
  EXPECT_EQ(best_so_far(begun()), "") << "the comparator is what the others are compared with";
}

TEST(BestSoFar, AFirstLookIsCalledOne) {
  Standing standing = begun();
  add(standing, 3, CandidateStatus::kTried, 1.2);
  add(standing, 4, CandidateStatus::kTried, 1.951);
  EXPECT_EQ(best_so_far(standing), "#4: 1.95x #2 at first sight, 1 session");
}

TEST(BestSoFar, WhatIsOutIsNotTheBestAndJudgedGoesBeforeUnjudged) {
  Standing standing = begun();
  add(standing, 3, CandidateStatus::kAdmissible, 1.2);
  add(standing, 4, CandidateStatus::kWrong, 3);
  add(standing, 5, CandidateStatus::kTried, 2);
  EXPECT_EQ(best_so_far(standing), "#3: 1.20x #2 at first sight, 1 session");
}

TEST(BestSoFar, TheRaceGivesMedianRangeAndSessions) {
  Standing standing = begun();
  add(standing, 4, CandidateStatus::kAdmissible, 3).race_log_ratios = {std::log(1.82), std::log(1.79), std::log(1.85)};
  EXPECT_EQ(best_so_far(standing), "#4: 1.82x #2 [1.79, 1.85], 3 sessions");
}

TEST(BestSoFar, TheProofAndTheEstimateTakeItsPlace) {
  Standing standing = begun();
  add(standing, 4, CandidateStatus::kAdmissible, 3).race_log_ratios = {0.1, 0.2};
  standing.nominees[4].sessions = {{.log_ratio = std::log(1.5), .win = true}, {.log_ratio = std::log(1.7), .win = true}};
  EXPECT_EQ(best_so_far(standing), "#4: 1.60x #2 [1.50, 1.70], 2 sessions");
  standing.nominees[4].holdout = "confirmed";
  standing.estimate_log_ratios = {std::log(1.4), std::log(1.4), std::log(1.4)};
  EXPECT_EQ(best_so_far(standing), "#4: 1.40x #2 [1.40, 1.40], 3 sessions");
}

}  // namespace
}  // namespace fiel
