#include "replay/score.h"

#include <gtest/gtest.h>

#include "replay/replay.h"
#include "replay/test_recording.h"

namespace fiel {
namespace {

TEST(Yardstick, FollowsThePublishedFormulas) {
  const Yardstick nine(ranked_recording(3));
  EXPECT_EQ(nine.optimum(), 1.0);
  EXPECT_EQ(nine.median(), 5.0);
  EXPECT_EQ(nine.random_after(1), 5.0);  // index round(1 * 10 / 2) = 5 of 9 ... 1
  EXPECT_EQ(nine.random_after(4), 2.0);  // index 8
  EXPECT_EQ(nine.random_after(1000), 1.0);
  EXPECT_EQ(nine.draws_to(5.0), 1.0);    // ceil(5 / 5)
  EXPECT_EQ(nine.draws_to(2.0), 4.0);    // ceil(8 / 2)
  EXPECT_EQ(nine.draws_to(1.0), 9.0);
  EXPECT_EQ(nine.seconds_per_draw(), 1.0);
  EXPECT_EQ(nine.start_seconds(), 3.0);  // half of the way from 5 to 1 is 3, index 7: ceil(7 / 3)
  EXPECT_EQ(nine.end_seconds(), 9.0);    // 96 % of it is 1.16, so 1
}

TEST(Yardstick, AnOracleScoresOneAndAnIdlerFarBelowZero) {
  const Yardstick yardstick(ranked_recording(30));
  const Improvement at_once{0.0, yardstick.optimum()};
  EXPECT_DOUBLE_EQ(yardstick.score({&at_once, 1}), 1.0);
  const Improvement too_late{yardstick.end_seconds() + 1, yardstick.optimum()};
  EXPECT_LT(yardstick.score({&too_late, 1}), -10.0);
  EXPECT_EQ(yardstick.score({}), yardstick.score({&too_late, 1}));
}

// Values in a straight line: there the value at the expected index is the expected value.
TEST(Yardstick, RandomSearchScoresZeroWithinItsError) {
  const auto summary = replay(ranked_recording(30), {.each = {.strategy = "random", .seed = 3}, .repeats = 400});
  ASSERT_TRUE(summary);
  const double error = (summary->score.high - summary->score.low) / 2;
  EXPECT_LT(error, 0.2);
  EXPECT_LE(summary->score.low, 0.02);
  EXPECT_GE(summary->score.high, -0.02);
}

TEST(Yardstick, WhatFailsMakesDrawsDearer) {
  std::vector<RawRecord> raw;
  for (int i = 1; i <= 4; ++i) raw.push_back(raw_record({{"x", std::to_string(i)}}, i, 2.0));
  raw.back().recorded.outcome = Trial::Outcome::kFailed;
  raw.back().recorded.value.reset();
  const auto recording = make_recording("one fails", raw);
  ASSERT_TRUE(recording);
  EXPECT_DOUBLE_EQ(Yardstick(*recording).seconds_per_draw(), 8.0 / 3.0);
  EXPECT_EQ(Yardstick(*recording).worst(), 3.0);
}

}  // namespace
}  // namespace fiel
