#include "stats/non_inferiority.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/rng.h"
#include "stats/paired_binary.h"

namespace fiel::stats {
namespace {

struct Pair {
  std::vector<double> reference, candidate;
  PairedScores scores() const { return {.reference = reference, .candidate = candidate}; }
};

// Right for both, then `losses` samples only the reference has right and `wins` only the candidate.
Pair right_or_wrong(int samples, int wins, int losses) {
  Pair pair;
  pair.reference.assign(static_cast<std::size_t>(samples), 1.0);
  pair.candidate = pair.reference;
  for (int i = 0; i < losses; ++i) pair.candidate[static_cast<std::size_t>(i)] = 0.0;
  for (int i = 0; i < wins; ++i) pair.reference[static_cast<std::size_t>(losses + i)] = 0.0;
  return pair;
}

TEST(NonInferiority, RightOrWrongScoresGoThroughTheScoreTest) {
  const auto pair = right_or_wrong(1000, 12, 9);
  const auto result = non_inferiority(pair.scores(), {0.01, 0.05});
  EXPECT_EQ(result.decision, Decision::kAccept);
  EXPECT_EQ(result.method, "paired score test (Tango)");
  EXPECT_NEAR(result.lower_bound, -0.00482070812206, 1e-8);
  EXPECT_NEAR(result.estimate, 0.003, 1e-12);
  EXPECT_EQ(result.wins, 12);
  EXPECT_EQ(result.losses, 9);
  EXPECT_EQ(result.samples, 1000);
}

TEST(NonInferiority, EqualAnswersOnFewSamplesAreNotProvenAndSayWhatWouldDo) {
  const auto few = right_or_wrong(298, 0, 0), enough = right_or_wrong(299, 0, 0);
  const auto result = non_inferiority(few.scores(), {0.01, 0.05});
  EXPECT_EQ(result.decision, Decision::kNotProven);
  EXPECT_EQ(result.estimate, 0.0);
  EXPECT_EQ(result.units_to_decide, 299);
  EXPECT_EQ(non_inferiority(enough.scores(), {0.01, 0.05}).decision, Decision::kAccept);
}

TEST(NonInferiority, LowerIsBetterTurnsWinsIntoLosses) {
  const auto pair = right_or_wrong(1000, 12, 3);
  auto errors = pair.scores();
  errors.direction = Direction::kLowerIsBetter;
  const auto result = non_inferiority(errors, {0.01, 0.05});
  EXPECT_EQ(result.wins, 3);
  EXPECT_EQ(result.losses, 12);
  EXPECT_NEAR(result.estimate, -0.009, 1e-12);
  EXPECT_EQ(result.decision, Decision::kNotProven);
}

TEST(NonInferiority, OneScoreBetweenZeroAndOneMakesItRealValued) {
  auto pair = right_or_wrong(400, 0, 0);
  pair.reference[0] = pair.candidate[0] = 0.5;
  const auto result = non_inferiority(pair.scores(), {0.01, 0.05});
  EXPECT_EQ(result.method, "paired t and BCa bootstrap");
  EXPECT_EQ(result.decision, Decision::kAccept);  // 400 >= 299
  EXPECT_EQ(result.units_to_decide, 299);
}

TEST(NonInferiority, GroupsCountOnce) {
  auto pair = right_or_wrong(400, 0, 0);
  std::vector<std::int64_t> groups;
  for (int i = 0; i < 400; ++i) groups.push_back(i / 4);
  auto scores = pair.scores();
  scores.groups = groups;
  const auto result = non_inferiority(scores, {0.01, 0.05});
  EXPECT_EQ(result.units, 100);
  EXPECT_EQ(result.samples, 400);
  EXPECT_EQ(result.decision, Decision::kNotProven);
  EXPECT_EQ(result.method, "paired t and BCa bootstrap over groups");
  EXPECT_EQ(result.units_to_decide, 299);
}

TEST(NonInferiority, EqualScoresOfUnknownRangeProveNothingUntilTheRangeIsGiven) {
  const std::vector<double> same(1000, 37.5);
  PairedScores scores{.reference = same, .candidate = same};
  EXPECT_EQ(non_inferiority(scores, {1.0, 0.05}).decision, Decision::kNotProven);
  EXPECT_FALSE(clearly_inferior(scores, 1.0));
  scores.score_range = 100.0;
  EXPECT_EQ(non_inferiority(scores, {1.0, 0.05}).decision, Decision::kAccept);
}

TEST(NonInferiority, GroupsOfOneSampleAreNoGroups) {
  auto pair = right_or_wrong(300, 1, 1);
  std::vector<std::int64_t> groups;
  for (int i = 0; i < 300; ++i) groups.push_back(300 - i);
  auto scores = pair.scores();
  scores.groups = groups;
  EXPECT_EQ(non_inferiority(scores, {0.05, 0.05}).method, "paired score test (Tango)");
}

TEST(NonInferiority, ScoresThatAreNotFiniteProveNothingAndAreRejectedEarly) {
  for (double poison : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    auto pair = right_or_wrong(5000, 10, 0);
    pair.candidate[17] = poison;
    EXPECT_EQ(non_inferiority(pair.scores(), {0.5, 0.05}).decision, Decision::kNotProven);
    EXPECT_TRUE(clearly_inferior(pair.scores(), 0.5));
  }
}

TEST(NonInferiority, NoSamplesProveNothing) {
  EXPECT_EQ(non_inferiority({.reference = {}, .candidate = {}}, {0.5, 0.05}).decision,
            Decision::kNotProven);
}

TEST(NonInferiority, AMarginThatIsNoNumberIsNeverMet) {
  const auto pair = right_or_wrong(5000, 10, 0);
  EXPECT_EQ(non_inferiority(pair.scores(), {std::nan(""), 0.05}).decision, Decision::kNotProven);
}

TEST(NonInferiority, ALargeLossIsRejectedAtTheFirstRungAndADoubtfulOneIsNot) {
  const auto broken = right_or_wrong(64, 0, 30), doubtful = right_or_wrong(64, 1, 3);
  EXPECT_TRUE(clearly_inferior(broken.scores(), 0.01));
  EXPECT_FALSE(clearly_inferior(doubtful.scores(), 0.01));
  EXPECT_NEAR(gain_upper_bound(doubtful.scores(), 0.001), paired_upper_bound({1, 3, 64}, 0.001),
              1e-12);
}

TEST(NonInferiority, ARealLossOnManySamplesIsRejectedEarlyToo) {
  Pair pair;
  Rng rng(3);
  for (int i = 0; i < 256; ++i) {
    pair.reference.push_back(0.9 + 0.1 * rng.uniform01());
    pair.candidate.push_back(pair.reference.back() - 0.3 - 0.2 * rng.uniform01());
  }
  auto scores = pair.scores();
  scores.score_range = 1.0;
  EXPECT_TRUE(clearly_inferior(scores, 0.05));
  EXPECT_FALSE(clearly_inferior(scores, 0.45));
}

TEST(NonInferiority, RealScoresSayHowManySamplesWouldDecide) {
  Pair pair;
  Rng rng(4);
  for (int i = 0; i < 200; ++i) {
    pair.reference.push_back(0.5);
    pair.candidate.push_back(0.5 + 0.2 * rng.normal());
  }
  const auto result = non_inferiority(pair.scores(), {0.01, 0.05});
  ASSERT_EQ(result.decision, Decision::kNotProven);
  ASSERT_TRUE(result.units_to_decide);
  const double distance = 0.01 + result.estimate;
  EXPECT_NEAR(static_cast<double>(*result.units_to_decide), 2.7055 * 0.04 / (distance * distance),
              0.25 * static_cast<double>(*result.units_to_decide));
}

}  // namespace
}  // namespace fiel::stats
