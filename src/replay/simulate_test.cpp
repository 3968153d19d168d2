#include "replay/simulate.h"

#include <gtest/gtest.h>

#include "replay/replay.h"
#include "replay/test_recording.h"

namespace fiel {
namespace {

// Four configurations at 1, 2, 4 and 8 seconds; the second fails, the last one is best.
Recording four() {
  std::vector<RawRecord> raw;
  for (int i = 0; i < 4; ++i) raw.push_back(raw_record({{"x", std::to_string(i)}}, 10.0 - i, 1 << i));
  raw[1].recorded.outcome = Trial::Outcome::kFailed;
  raw[1].recorded.value.reset();
  return *make_recording("four", raw);
}

TEST(Simulate, TheClockCountsFirstVisitsFailuresIncluded) {
  const Recording recording = four();
  const Yardstick yardstick(recording);
  const auto done = simulate(recording, yardstick, {.strategy = "full"});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->clock_seconds, 15.0);
  EXPECT_EQ(done->failures, 1);
  EXPECT_EQ(done->best_after, (std::vector<double>{10.0, 10.0, 8.0, 7.0}));
  ASSERT_EQ(done->improvements.size(), 3u);
  EXPECT_EQ(done->improvements[1].seconds, 7.0);
  EXPECT_EQ(done->improvements[2].seconds, 15.0);
}

TEST(Simulate, EveryStrategyKeepsToWhatWasRecorded) {
  std::vector<RawRecord> raw;
  for (int x = 0; x < 6; ++x) {
    for (int y = 0; y < 6; ++y) {
      if ((x + y) % 3 != 0) raw.push_back(raw_record({{"x", std::to_string(x)}, {"y", std::to_string(y)}}, 1.0 + x * y));
    }
  }
  const Recording recording = *make_recording("holes", raw);
  EXPECT_EQ(recording.space.size(), 24.0);
  const Yardstick yardstick(recording);
  for (const auto name : strategy_names()) {
    const auto done = simulate(recording, yardstick, {.strategy = name, .evaluations = 1000});  // FIEL_CHECK inside
    ASSERT_TRUE(done) << name;
    EXPECT_LE(done->best_after.size(), 24u) << name;
  }
}

TEST(Simulate, TheSameSeedIsTheSameSearch) {
  const Recording recording = ranked_recording(12);
  const Yardstick yardstick(recording);
  for (const auto name : strategy_names()) {
    const SimulationOptions options{.strategy = name, .seed = 5};
    EXPECT_EQ(simulate(recording, yardstick, options)->best_after, simulate(recording, yardstick, options)->best_after) << name;
  }
}

TEST(Simulate, NoisyTimingsArePaidOneByOneAndTrueValuesCount) {
  std::vector<RawRecord> raw;
  for (int i = 0; i < 2; ++i) {
    raw.push_back(raw_record({{"x", std::to_string(i)}}, 2.0 + i));
    raw.back().recorded.timings = {1.0, 2.0, 6.0, 7.0};
    raw.back().recorded.timing_seconds = 16.0;
  }
  const Recording recording = *make_recording("noisy", raw);
  const auto done = simulate(recording, Yardstick(recording), {.strategy = "full", .noise = Noise::kRecorded, .timings = 3});
  ASSERT_TRUE(done);
  EXPECT_DOUBLE_EQ(done->clock_seconds, 2 * (1.0 + 3 * 4.0));
  for (const double value : done->best_after) EXPECT_TRUE(value == 2.0 || value == 3.0);
}

TEST(Replay, AnUnknownStrategyIsAnError) {
  EXPECT_FALSE(replay(four(), {.each = {.strategy = "best"}, .repeats = 1}));
}

}  // namespace
}  // namespace fiel
