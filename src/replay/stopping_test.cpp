// T10 of the methodology in short: the search ends where going on would cost more than it brings. bench/search/stopping is the long
// form, on recordings of real spaces.
#include "replay/stopping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "replay/test_recording.h"
#include "search/trial_costs.h"

namespace fiel {
namespace {

// 3^6 configurations: knobs that act alone and in pairs, a part that no model foresees.
Recording made_up(double strength, std::uint64_t seed) {
  Rng rng(seed);
  constexpr int kKnobs = 6, kValues = 3;
  double alone[kKnobs][kValues], pairs[kKnobs][kValues][kValues];
  for (auto& knob : alone) {
    for (double& value : knob) value = strength * rng.normal();
  }
  for (auto& knob : pairs) {
    for (auto& row : knob) {
      for (double& value : row) value = 0.6 * strength * rng.normal();
    }
  }
  std::vector<RawRecord> raw;
  for (int number = 0; number < 729; ++number) {
    std::vector<std::pair<std::string, std::string>> settings;
    double log_time = 0.05 * strength * rng.normal();
    int rest = number, before = number / 243;
    for (int knob = 0; knob < kKnobs; ++knob, rest /= kValues) {
      const int value = rest % kValues;
      settings.emplace_back(std::string(1, static_cast<char>('a' + knob)), std::to_string(value));
      log_time += alone[knob][value] + pairs[knob][before][value];
      before = value;
    }
    raw.push_back(raw_record(settings, std::exp(log_time)));
    if (rng.uniform01() >= 0.05) continue;
    raw.back().recorded.outcome = Trial::Outcome::kFailed;
    raw.back().recorded.value.reset();
  }
  return *make_recording("made_up", std::move(raw));
}

constexpr double kFewTrialsSeconds = 3 * 5;

StoppingOptions options(double spread) {
  return {.replay = {.each = {.strategy = "auto", .seed = 1, .evaluations = 80}, .repeats = 6}, .spread = spread};
}

TEST(Stopping, TheBillIsNearThatOfTheBestFixedNumberOfTrialsWhateverThePlan) {
  for (const double strength : {0.03, 0.3}) {
    const Recording recording = made_up(strength, 11);
    for (const double spread : {1.0, 100.0}) {
      const auto summary = replay_stopping(recording, options(spread));
      ASSERT_TRUE(summary);
      double sum = 0;
      for (const BreakEvenAt& at : summary->break_even) {
        const double over = at.best_fixed_bill > 0 ? at.bill / at.best_fixed_bill - 1 : 0.0;
        // Where a plan pays for hardly a trial, one or two made in vain are much; and of few repeats one may end too early.
        EXPECT_LT(at.bill, 1.25 * at.best_fixed_bill + kFewTrialsSeconds) << strength << ", executions " << at.executions << "\n" << stopping_text(*summary);
        sum += over;
      }
      EXPECT_LT(sum / static_cast<double>(summary->break_even.size()), 0.1) << stopping_text(*summary);
    }
  }
}

TEST(Stopping, ThePlanDecidesHowLongItGoesOn) {
  const auto summary = *replay_stopping(made_up(0.2, 12), options(1));
  EXPECT_EQ(summary.break_even.front().executions, 0);
  EXPECT_EQ(summary.break_even.front().stop_trials, 0);
  EXPECT_EQ(summary.break_even[1].stop_trials, 0);  // ten executions pay for nothing
  EXPECT_GT(summary.break_even.back().stop_trials, 70);
  for (std::size_t i = 1; i < summary.break_even.size(); ++i) {
    EXPECT_GE(summary.break_even[i].stop_trials, 0.7 * summary.break_even[i - 1].stop_trials);  // a larger plan, no earlier end, by and large
  }
}

TEST(Stopping, WithoutAPlanItEndsWhereNearlyNothingIsLeft) {
  StoppingOptions longer = options(1);
  longer.replay.each.evaluations = 160;
  const auto summary = *replay_stopping(made_up(0.1, 13), longer);
  EXPECT_LT(summary.plateau.stop_trials, summary.plateau.all_trials);
  EXPECT_GE(summary.plateau.stop_trials, 20);
  EXPECT_LT(summary.plateau.regret, summary.plateau.regret_of_all + 0.02);
}

// As the pipeline does it (tune/search_step.cpp): one that the rest can't pay is passed over, one that takes longer all the same
// is ended there.
TEST(Stopping, NoTrialIsStartedThatTheRestCantPayAndNothingGoesOverTheEnd) {
  const Recording recording = with_costs_spread(made_up(0.1, 14), 100);
  double dearest = 0, cheapest = 1e9;
  for (const auto& [route, recorded] : recording.records) {
    dearest = std::max(dearest, recorded.seconds());
    cheapest = std::min(cheapest, recorded.seconds());
  }
  EXPECT_NEAR(dearest / cheapest, 100, 1e-6);
  int cut = 0, started = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    auto strategy = *make_strategy("auto", recording.space, recording.records.begin()->first, seed);
    TrialCosts costs(1);
    double clock = 0, until = 300;
    for (int passed_over = 0; passed_over < 30;) {
      const auto route = strategy->ask();
      ASSERT_TRUE(route);
      const double foreseen = costs.at_most_seconds(*route);
      if (clock + foreseen > until) {
        ++passed_over;
        continue;
      }
      passed_over = 0;
      ++started;
      const Recorded& recorded = recording.records.at(*route);
      Trial trial{.route = *route, .outcome = recorded.outcome, .log_speedup = {}, .seconds = std::min(recorded.seconds(), until - clock)};
      if (*trial.seconds < recorded.seconds()) {
        trial.outcome = Trial::Outcome::kFailed;
        ++cut;
      } else if (recorded.value) {
        trial.log_speedup = -std::log(*recorded.value);
      }
      clock += *trial.seconds;
      costs.tell(trial);
      strategy->tell(trial);
    }
    EXPECT_LE(clock, until);
  }
  EXPECT_LE(cut, started / 10);  // what is foreseen is what nine in ten did not exceed
}

}  // namespace
}  // namespace fiel
