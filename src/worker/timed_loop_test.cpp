#include "worker/timed_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>

#include "model/test_folder.h"
#include "worker/test_engine.h"

namespace fiel {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::SizeIs;

constexpr double kHours = 3600;

class TimedLoopTest : public ::testing::Test {
 protected:
  explicit TimedLoopTest(int slot_count = 3) : engine_(slot_count) {}

  Feed feed(int sample_count, std::int64_t batch = 1) {
    std::vector<SampleFiles> samples;
    for (int i = 0; i < sample_count; ++i) {
      const auto value = static_cast<float>(i);
      Shape shape = engine_.has_state ? Shape{2, 1, 2} : Shape{1, 2};
      std::vector<float> numbers(engine_.has_state ? 4 : 2, value);
      samples.push_back({.index = i, .inputs = {{"x", pack_.add(floats(shape, numbers))}}});
    }
    const Loaded loaded{.report = engine_.report(),
                        .state = engine_.has_state ? std::vector<StateLink>{{"h_out", "h"}}
                                                   : std::vector<StateLink>{},
                        .shapes = {}};
    return Feed::create(loaded, samples, batch).value();
  }
  std::vector<float> order() const {
    std::vector<float> firsts;
    for (const TestEngine::Run& run : engine_.ran) firsts.push_back(run.first_value);
    return firsts;
  }

  TestFolder folder_;
  TestPack pack_{folder_ / "samples.pack"};
  TestEngine engine_;
};

TEST_F(TimedLoopTest, RunsTheSamplesInOrderAndAgain) {
  const Feed samples = feed(3);
  const auto report = run_single_stream(
      engine_, samples,
      {.warmup_count = 2, .min_count = 5, .min_seconds = 0, .max_seconds = kHours});
  ASSERT_TRUE(report);
  EXPECT_THAT(order(), ElementsAre(0, 1, 2, 0, 1, 2, 0));
  EXPECT_EQ(report->count, 5);
  EXPECT_THAT(report->warmup_seconds, SizeIs(2));
  EXPECT_THAT(report->latency_seconds, SizeIs(5));
  EXPECT_THAT(report->latency_seconds, Each(Gt(0.0)));
  EXPECT_EQ(report->last.item, 0u);
  EXPECT_THAT(values(report->last.steps.at(0).at(0).view()), ElementsAre(0, 0));
}

TEST_F(TimedLoopTest, GoesOnUntilTheMinimumTimeIsMet) {
  const Feed samples = feed(1);
  const auto report = run_single_stream(
      engine_, samples,
      {.warmup_count = 0, .min_count = 1, .min_seconds = 0.002, .max_seconds = kHours});
  ASSERT_TRUE(report);
  EXPECT_GE(report->seconds, 0.002);
  EXPECT_GT(report->count, 1);
}

TEST_F(TimedLoopTest, StopsAtTheMaximumTimeButAlwaysRunsOnce) {
  const Feed samples = feed(1);
  const auto report = run_single_stream(
      engine_, samples, {.warmup_count = 0, .min_count = 50, .min_seconds = 0, .max_seconds = 0});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->count, 1);
}

TEST_F(TimedLoopTest, CarriesStateFromStepToStepAndResetsItForTheNextSequence) {
  engine_.has_state = true;
  const Feed samples = feed(2);
  const auto report = run_single_stream(
      engine_, samples,
      {.warmup_count = 1, .min_count = 5, .min_seconds = 0, .max_seconds = kHours});
  ASSERT_TRUE(report);
  // Sequences 0, 1, 0 of two steps each; the sixth step is the second of sequence 0, whose h was 1.
  EXPECT_EQ(report->last.item, 0u);
  ASSERT_THAT(report->last.steps, SizeIs(2));
  EXPECT_THAT(values(report->last.steps[1][0].view()), ElementsAre(1, 1));
  EXPECT_THAT(values(report->last.steps[1][1].view()), ElementsAre(2));
}

TEST_F(TimedLoopTest, FinishesASequenceThatWasCutShortUntimed) {
  engine_.has_state = true;
  const Feed samples = feed(1);
  const auto report = run_single_stream(
      engine_, samples,
      {.warmup_count = 0, .min_count = 3, .min_seconds = 0, .max_seconds = kHours});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->count, 3);
  EXPECT_THAT(report->latency_seconds, SizeIs(3));
  EXPECT_THAT(report->last.steps, SizeIs(2));
}

TEST_F(TimedLoopTest, AnEnginesErrorEndsTheLoop) {
  const Feed samples = feed(1);
  int runs = 0;
  engine_.on_run = [&](int, float) {
    if (++runs == 3) throw std::runtime_error("broken");
  };
  EXPECT_THROW(std::ignore = run_single_stream(
                   engine_, samples,
                   {.warmup_count = 0, .min_count = 9, .min_seconds = 0, .max_seconds = kHours}),
               std::runtime_error);
}

TEST_F(TimedLoopTest, OfflineKeepsAllSlotsBusy) {
  const Feed samples = feed(7);
  const auto report =
      run_offline(engine_, samples,
                  {.warmup_count = 2, .min_count = 30, .min_seconds = 0, .max_seconds = kHours}, 3);
  ASSERT_TRUE(report);
  std::set<int> slots;
  for (const TestEngine::Run& run : engine_.ran) slots.insert(run.slot);
  EXPECT_THAT(slots, SizeIs(3));
  EXPECT_THAT(report->warmup_seconds, SizeIs(2));
  EXPECT_GE(report->count, 30);
  EXPECT_EQ(report->latency_seconds.size(), static_cast<std::size_t>(report->count));
  EXPECT_EQ(engine_.ran.size(),
            static_cast<std::size_t>(report->count) + 6);  // two rounds of warm-up on three slots
  EXPECT_GT(report->seconds, 0);
  const auto item = static_cast<float>(report->last.item);
  EXPECT_THAT(values(report->last.steps.at(0).at(0).view()), ElementsAre(2 * item, 2 * item));
}

TEST_F(TimedLoopTest, OfflineCountsSamplesWithoutFillers) {
  const Feed samples = feed(3, 2);  // batches of two and of one with a filler
  const auto report =
      run_offline(engine_, samples,
                  {.warmup_count = 0, .min_count = 4, .min_seconds = 0, .max_seconds = kHours}, 1);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->latency_seconds, SizeIs(4));
  EXPECT_EQ(report->count, 6);
  EXPECT_EQ(report->last.item, 1u);
}

TEST_F(TimedLoopTest, ServerCountsTheTimeThatARequestWaitsForAFreeSlot) {
  const Feed samples = feed(2);
  const std::vector<double> at_once(5, 0.0);
  const auto report = run_server(engine_, samples, {.warmup_count = 1, .max_seconds = kHours},
                                 {.arrivals_seconds = at_once, .slot_count = 1});
  ASSERT_TRUE(report);
  EXPECT_THAT(order(), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_EQ(report->count, 5);
  EXPECT_THAT(report->warmup_seconds, SizeIs(1));
  ASSERT_THAT(report->latency_seconds, SizeIs(5));
  // All were due at the same moment, so each one has waited for those before it.
  EXPECT_TRUE(std::ranges::is_sorted(report->latency_seconds));
  EXPECT_DOUBLE_EQ(report->latency_seconds.back(), report->seconds);
  EXPECT_EQ(report->last.item, 1u);
}

TEST_F(TimedLoopTest, ServerBeginsNothingBeforeItIsDue) {
  const Feed samples = feed(3);
  const std::vector<double> arrivals = {0.001, 0.003, 0.005};
  const auto report = run_server(engine_, samples, {.max_seconds = kHours},
                                 {.arrivals_seconds = arrivals, .slot_count = 3});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->count, 3);
  EXPECT_GE(report->seconds, 0.004);  // from when the first was due
  EXPECT_THAT(report->latency_seconds, Each(Gt(0.0)));
}

TEST_F(TimedLoopTest, ServerLeavesOffAtTheMaximumTimeButAlwaysServesOne) {
  const Feed samples = feed(1);
  const std::vector<double> arrivals(100, 0.0);
  const auto report = run_server(engine_, samples, {.max_seconds = 0},
                                 {.arrivals_seconds = arrivals, .slot_count = 1});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->count, 1);
}

TEST_F(TimedLoopTest, WhatOneSlotThrowsEndsTheServerToo) {
  const Feed samples = feed(1);
  engine_.on_run = [](int, float) { throw std::runtime_error("broken"); };
  const std::vector<double> arrivals(10, 0.0);
  const auto report = run_server(engine_, samples, {.max_seconds = kHours},
                                 {.arrivals_seconds = arrivals, .slot_count = 3});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "broken");
}

TEST_F(TimedLoopTest, WhatOneSlotThrowsEndsAllOfThem) {
  const Feed samples = feed(2);
  engine_.on_run = [](int slot, float) {
    if (slot == 1) throw std::runtime_error("slot 1 is broken");
  };
  for (const std::int64_t warmup_count : {0, 1}) {
    const auto report = run_offline(engine_, samples,
                                    {.warmup_count = warmup_count,
                                     .min_count = 1'000'000'000,
                                     .min_seconds = 0,
                                     .max_seconds = kHours},
                                    3);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().reason, "internal");
    EXPECT_EQ(report.error().message, "slot 1 is broken");
  }
}

}  // namespace
}  // namespace fiel
