// What a run tells beyond its verdict: the Pareto set, what mattered, what may be left, and itself as a recording.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/rng.h"
#include "replay/score.h"
#include "report/pareto.h"
#include "report/quality.h"
#include "report/run_recording.h"
#include "report/test_run.h"
#include "report/text.h"
#include "report/what_mattered.h"

namespace fiel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CandidateView admissible(int id, double screen_ratio, std::optional<std::int64_t> memory, std::optional<double> margin) {
  CandidateView candidate;
  candidate.id = id;
  candidate.engine = "openvino";
  candidate.status = "admissible";
  candidate.kind = "admissible";
  candidate.screen_ratio = screen_ratio;
  candidate.peak_memory_bytes = memory;
  candidate.margin_left = margin;
  return candidate;
}

std::vector<int> ids_of(const ParetoSet& set) {
  std::vector<int> ids;
  for (const ParetoPoint& point : set.points) ids.push_back(point.id);
  return ids;
}

TEST(Pareto, KeepsWhatNothingBeatsInAllThree) {
  RunView view;
  view.candidates[1] = admissible(1, 1.0, 100, 0.9);
  view.candidates[2] = admissible(2, 1.5, 100, 0.9);  // beats 1
  view.candidates[3] = admissible(3, 1.2, 50, 0.1);   // less memory
  view.candidates[4] = admissible(4, 1.1, 120, 1.0);  // more accurate
  view.candidates[5] = admissible(5, 9.0, 10, 1.0);
  view.candidates[5].status = "inadmissible";         // fast and wrong: no choice
  view.candidates[6] = admissible(6, 1.5, 100, 0.9);  // the same as 2: both stay
  view.candidates[7] = admissible(7, 2.0, {}, 0.9);   // its memory is not known
  const ParetoSet set = pareto_set(view);
  EXPECT_THAT(ids_of(set), ElementsAre(2, 6, 3, 4));
  EXPECT_EQ(set.compared, 5);
  EXPECT_EQ(set.left_out, 1);
}

TEST(Pareto, LeavesOutAnAxisOfWhichNothingIsKnown) {
  RunView view;
  view.candidates[1] = admissible(1, 1.0, {}, 0.9);
  view.candidates[2] = admissible(2, 1.5, {}, 0.9);
  view.comparator = 1;
  const ParetoSet set = pareto_set(view);
  EXPECT_THAT(ids_of(set), ElementsAre(2));
  EXPECT_THAT(set.axes, ElementsAre("ratio", "margin_left"));
}

// A run over two knobs of three and four values, one without any effect: time = 2 for `slow`, 1.25 for threads=4; the two
// fastest are wrong.
RunView timed_run(int count) {
  RunView view;
  Rng rng(3);
  for (int id = 1; id <= count; ++id) {
    const auto mode = rng.below(3), threads = rng.below(4), shape = rng.below(2);
    CandidateView candidate = admissible(id, 1.0, 100, 0.5);
    if (mode > 0) candidate.settings["mode"] = mode == 1 ? "slow" : "wrong";
    if (threads > 0) candidate.environment["threads"] = std::to_string(threads + 1);
    if (shape > 0) candidate.settings["shape"] = "static";
    double log_time = (mode == 1 ? std::log(2.0) : mode == 2 ? -std::log(3.0) : 0.0) + (threads == 3 ? std::log(1.25) : 0.0);
    log_time += 0.01 * rng.normal();
    candidate.screen_ratio = std::exp(-log_time);
    if (mode == 2) candidate.status = "inadmissible";
    view.candidates[id] = candidate;
  }
  return view;
}

TEST(WhatMattered, NamesTheKnobsTheirEffectsAndWhatToCopy) {
  const auto all = what_mattered(timed_run(60));
  ASSERT_EQ(all.size(), 1u);
  const WhatMattered& found = all[0];
  EXPECT_EQ(found.too_little, "");
  EXPECT_EQ(found.candidates, 60);
  EXPECT_LT(found.unexplained, 0.02);
  ASSERT_EQ(found.knobs.size(), 3u);
  EXPECT_EQ(found.knobs[0].knob, "mode");
  EXPECT_GT(found.knobs[0].share, 0.9);
  EXPECT_EQ(found.knobs[0].reference, "default");
  EXPECT_EQ(found.knobs[0].levels[0].value, "wrong");
  EXPECT_NEAR(found.knobs[0].levels[0].ratio, 3.0, 0.1);
  EXPECT_EQ(found.knobs[0].levels[0].admissible, 0);
  EXPECT_NEAR(found.knobs[0].levels[2].ratio, 0.5, 0.02);
  EXPECT_EQ(found.knobs[2].knob, "shape");
  EXPECT_LT(found.knobs[2].share, 0.01);
  EXPECT_TRUE(found.to_copy.empty());  // all at their best admissible level already; the fastest is wrong
}

TEST(WhatMattered, CountsFromTheComparatorsLevel) {
  RunView view = timed_run(60);
  for (const auto& [id, candidate] : view.candidates) {
    const auto mode = candidate.settings.find("mode");
    const bool is_slow = mode != candidate.settings.end() && mode->second == "slow" && candidate.environment.empty();
    if (is_slow && !view.comparator) view.comparator = id;
  }
  ASSERT_TRUE(view.comparator);
  // Ratios are against the comparator, whatever it is: shift all by its own.
  const double own = *view.candidates.at(*view.comparator).screen_ratio;
  for (auto& [id, candidate] : view.candidates) candidate.screen_ratio = *candidate.screen_ratio / own;
  const auto all = what_mattered(view);
  ASSERT_EQ(all[0].to_copy.size(), 1u);
  EXPECT_EQ(all[0].to_copy[0].knob, "mode");
  EXPECT_EQ(all[0].to_copy[0].value, "default");
  EXPECT_NEAR(all[0].to_copy[0].ratio, 2.0, 0.05);
}

TEST(WhatMattered, SaysNothingFromTooLittleOrFromNoise) {
  EXPECT_THAT(what_mattered(timed_run(15))[0].too_little, HasSubstr("it takes 20"));
  RunView view = timed_run(40);
  Rng rng(4);
  for (auto& [id, candidate] : view.candidates) candidate.screen_ratio = std::exp(rng.normal());
  EXPECT_THAT(what_mattered(view)[0].too_little, HasSubstr("foretells no more than"));
  EXPECT_TRUE(what_mattered(view)[0].knobs.empty());
}

RunView drawn_run(int draws) {
  RunView view = timed_run(80);
  view.search = SearchView{.strategy = "auto", .space_size = 5000};
  for (int id = 1; id <= draws; ++id) view.search->uniform_draws.push_back(id);
  return view;
}

// 59 draws: at most 5 % (1 - 0.05^(1/59) = 4.95 %).
TEST(Quality, FollowsFromTheUniformDraws) {
  const auto quality = quality_statement(drawn_run(59));
  ASSERT_TRUE(quality);
  EXPECT_EQ(quality->draws, 59);
  EXPECT_EQ(quality->may_be_better, 0);
  EXPECT_NEAR(*quality->left_at_most, 1 - std::pow(0.05, 1.0 / 59), 1e-9);
  EXPECT_THAT(quality->sentence, HasSubstr("at most 5 % of the 5000 routes"));
  EXPECT_THAT(quality->sentence, HasSubstr("none of 59"));
}

TEST(Quality, CountsWhatWasNotJudgedAgainstIt) {
  RunView view = drawn_run(59);
  view.candidates.at(7).status = "pruned";
  view.candidates.at(7).screen_ratio = 100.0;
  const auto quality = quality_statement(view);
  EXPECT_EQ(quality->may_be_better, 1);
  EXPECT_NEAR(*quality->left_at_most, 0.0779, 1e-4);  // Clopper & Pearson, 1 of 59
}

TEST(Quality, ClaimsNothingWithoutDrawsAndNothingBeyondTheSpace) {
  RunView view = drawn_run(0);
  EXPECT_FALSE(quality_statement(view)->left_at_most);
  EXPECT_THAT(quality_statement(view)->sentence, HasSubstr("nothing can be said"));
  view.search->all_tried = true;
  EXPECT_THAT(quality_statement(view)->sentence, HasSubstr("all 5000 routes"));
  view.search.reset();
  EXPECT_FALSE(quality_statement(view));
}

TEST(Insight, IsPartOfTheTextWhereThereIsEnough) {
  RunView view = drawn_run(59);
  view.comparator = 1;
  const std::string text = format_text(view, {.width = 100, .all = true});
  EXPECT_THAT(text, HasSubstr("Pareto"));
  EXPECT_THAT(text, HasSubstr("What mattered on openvino"));
  EXPECT_THAT(text, HasSubstr("at most 5 %"));
  EXPECT_EQ(format_text(view, {.width = 100}).find("What mattered"), std::string::npos);
}

struct Facts {
  std::size_t configurations;
  std::ptrdiff_t admissible;
  double optimum;
  bool operator==(const Facts&) const = default;
};

Facts facts_of(const Recording& recording) {
  return {recording.records.size(),
          std::ranges::count_if(recording.records, [](const auto& entry) { return entry.second.found().has_value(); }),
          Yardstick(recording).optimum()};
}

TEST(RunRecording, IsReadBackAsTheSameSpace) {
  const RunView view = view_of(write_improved);
  const std::vector<Written> records = recording_of(view);
  const TestFolder folder;
  std::ofstream(folder.path() / "run.json") << t4_text(records);
  std::ofstream(folder.path() / "run.csv") << csv_text(records);
  const auto t4 = read_recording(folder.path() / "run.json");
  const auto csv = read_recording(folder.path() / "run.csv");
  ASSERT_TRUE(t4) << t4.error().message;
  ASSERT_TRUE(csv) << csv.error().message;
  // Nine candidates; four admissible, the duplicate of one of them, and one that was never judged in full; the winner at
  // the comparator's 13.06 ms / 1.835.
  const Facts expected{.configurations = 9, .admissible = 6, .optimum = 1e3 * TestRun::kBase / 1.835};
  EXPECT_EQ(facts_of(*t4).configurations, expected.configurations);
  EXPECT_EQ(facts_of(*t4).admissible, expected.admissible);
  EXPECT_NEAR(facts_of(*t4).optimum, expected.optimum, 1e-9);
  EXPECT_EQ(facts_of(*t4), facts_of(*csv));
  const Recorded& winner = t4->records.at({"openvino", {{"NUM_STREAMS", "1"}, {"ONEDNN_MAX_CPU_ISA", "AVX2"}, {"shape", "static"}}});
  EXPECT_NEAR(winner.fixed_seconds, 0.9 + 1.4 + 7.0, 1e-9);  // built, probed, judged
  EXPECT_EQ(winner.timings.size(), 4u);                      // the first look and three sessions of the race
}

TEST(RunRecording, SaysWhyThereIsNoCost) {
  const std::vector<Written> records = recording_of(view_of(write_improved));
  const auto invalidity = [&](std::size_t id) { return records[id - 1].invalidity; };
  EXPECT_EQ(invalidity(4), "correct");
  EXPECT_EQ(invalidity(5), "correctness");
  EXPECT_EQ(invalidity(6), "correct");  // as its twin
  EXPECT_EQ(invalidity(7), "runtime");
  EXPECT_EQ(invalidity(9), "compile");
}

}  // namespace
}  // namespace fiel
