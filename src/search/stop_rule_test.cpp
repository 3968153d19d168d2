#include "search/stop_rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "search/expected_gain.h"
#include "search/trial_costs.h"

namespace fiel {
namespace {

Trial trial(double speedup, double seconds = 1, std::string engine = "alpha", std::string variant = "") {
  Trial one{.route = {.engine = std::move(engine), .settings = {}}, .outcome = Trial::Outcome::kAdmissibleSoFar, .log_speedup = std::log(speedup), .seconds = seconds};
  if (!variant.empty()) one.route.settings["variant"] = std::move(variant);
  return one;
}

Trial comparator() {
  Trial one = trial(1);
  one.seconds.reset();
  return one;
}

Outlook outlook(double share, std::size_t trials, double seconds = 1) {
  return {.share = share, .share_per_second = share / seconds, .trials = trials, .every_knob_turned = true};
}

TEST(ExpectedGain, HasTheNumbersOfItsComment) {
  EXPECT_NEAR(expected_share(0, {.mean = 0, .deviation = 0.1}), 0.0375, 5e-5);
  EXPECT_NEAR(std::exp(log_expected_improvement(0, {.mean = 0, .deviation = 0.1})), 0.0399, 5e-5);
  EXPECT_NEAR(expected_share(0, {.mean = -std::log(2.0), .deviation = 1e-6}), 0.5, 1e-6);  // surely twice as fast: half is saved
  EXPECT_GT(log_expected_improvement(0, {.mean = 9, .deviation = 0.1}), -1e5);            // far out it is still a number
}

TEST(StopReason, IsAClosedListWithWords) {
  std::set<std::string_view> names, texts;
  for (const StopReason reason : kStopReasons) {
    EXPECT_EQ(parse_stop_reason(to_string(reason)), reason);
    names.insert(to_string(reason));
    texts.insert(stop_reason_words(reason));
  }
  EXPECT_EQ(names.size(), kStopReasons.size());
  EXPECT_EQ(texts.size(), kStopReasons.size());
  EXPECT_FALSE(parse_stop_reason("bored"));
}

TEST(WorthSeconds, IsWhatServingCostsInSecondsOfTuning) {
  EXPECT_DOUBLE_EQ(worth_seconds({.executions = 1000, .seconds_per_execution = 0.01}), 10);
  EXPECT_DOUBLE_EQ(worth_seconds({.executions = 1000, .seconds_per_execution = 0.01, .serving_per_hour = 0.4, .tuning_per_hour = 2}), 2);
  EXPECT_EQ(worth_seconds({.executions = 0, .seconds_per_execution = 0.01, .serving_per_hour = 0, .tuning_per_hour = 0}),
            std::numeric_limits<double>::infinity());
}

TEST(BreakEven, NothingIsTriedWhereAllThatCanBeSavedIsLessThanATrial) {
  StopRule rule({.worth_seconds = 1.0, .first_guess_seconds = 1});
  rule.tell(comparator());
  EXPECT_EQ(rule.look({}), StopReason::kBreakEven);
  StopRule bigger({.worth_seconds = 10.0, .first_guess_seconds = 1});
  bigger.tell(comparator());
  EXPECT_FALSE(bigger.look({}));
}

TEST(BreakEven, EndsWhereTheBestBetSavesLessThanItCosts) {
  StopRule rule({.worth_seconds = 100.0, .first_guess_seconds = 1});
  rule.tell(comparator());
  for (int i = 0; i < 8; ++i) rule.tell(trial(2 + 0.001 * i));
  // 100 s x 1/2 x 5 % = 2.5 s saved for one second; then for 10.
  EXPECT_FALSE(rule.look(outlook(0.05, 8)));
  EXPECT_EQ(rule.look(outlook(0.05, 9, 10)), StopReason::kBreakEven);
}

TEST(BreakEven, AModelThatExpectsNothingIsNotBelievedWhileTheBestIsFarAhead) {
  StopRule rule({.worth_seconds = 100.0, .first_guess_seconds = 1});
  rule.tell(comparator());
  for (int i = 0; i < 8; ++i) rule.tell(trial(i == 7 ? 2.0 : 1.0));
  EXPECT_FALSE(rule.look(outlook(1e-9, 8)));  // the second needs twice the time: 100 s x 1/2 x 1 over 9 s
  rule.tell(trial(1.99));
  EXPECT_EQ(rule.look(outlook(1e-9, 9)), StopReason::kBreakEven);
}

TEST(BreakEven, FreeTuningGoesOn) {
  StopRule rule({.worth_seconds = std::numeric_limits<double>::infinity()});
  for (int i = 0; i < 50; ++i) rule.tell(trial(1 + 0.01 * i));
  EXPECT_FALSE(rule.look(outlook(1e-9, 50)));
}

// After a good one among `good_at` trials, how many looks at nothing until it is a plateau?
int looks_until_plateau(int trials, int good_at, bool every_knob_turned) {
  StopRule rule({.min_gain = 0.01});
  for (int i = 1; i <= trials; ++i) {
    Outlook flat = outlook(1e-4, static_cast<std::size_t>(i));
    flat.every_knob_turned = every_knob_turned;
    if (rule.look(flat)) return i;
    rule.tell(trial(i == good_at ? 1.5 : i > good_at ? 1.499 : 1.0));
  }
  return trials + 1;
}

TEST(Plateau, NeedsTrialsLooksAndThatNothingWasGainedForLong) {
  EXPECT_EQ(looks_until_plateau(200, 3, true), 30);    // from the 20th trial on, ten looks
  EXPECT_EQ(looks_until_plateau(200, 40, true), 81);   // as many again as the gain took
  EXPECT_EQ(looks_until_plateau(200, 3, false), 201);  // a knob was never turned
}

TEST(Plateau, IsNoneForStrategiesWithoutAModelNorWhereMuchIsExpected) {
  StopRule rule({.min_gain = 0.01});
  for (std::size_t i = 1; i < 100; ++i) {
    EXPECT_FALSE(rule.look({}));
    EXPECT_FALSE(rule.look(outlook(0.0011, i)));
    rule.tell(trial(1));
  }
}

TEST(TrialCosts, GoByTheKindAndByAllWhereTheKindIsNew) {
  TrialCosts costs(7);
  EXPECT_EQ(costs.at_most_seconds({.engine = "alpha", .settings = {}}), 7);
  for (int i = 0; i < 10; ++i) {
    costs.tell(trial(1, 1));
    costs.tell(trial(1, 100, "alpha", "int8"));
  }
  costs.tell(comparator());
  EXPECT_EQ(costs.at_most_seconds({.engine = "alpha", .settings = {}}), 1);
  EXPECT_EQ(costs.at_most_seconds({.engine = "alpha", .settings = {{"variant", "int8"}}}), 100);
  EXPECT_EQ(costs.at_most_seconds({.engine = "beta", .settings = {}}), 100);
  TrialCosts spread(7);
  for (const double seconds : {4.0, 1.0, 3.0, 2.0}) spread.tell(trial(1, seconds));
  EXPECT_DOUBLE_EQ(spread.at_most_seconds({.engine = "alpha", .settings = {}}), 3.7);
}

}  // namespace
}  // namespace fiel
