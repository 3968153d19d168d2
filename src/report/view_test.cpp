#include "report/view.h"

#include <gtest/gtest.h>

#include <numeric>

#include "report/candidates.h"
#include "report/phases.h"
#include "report/test_run.h"

namespace fiel {
namespace {

TEST(View, SortsCandidatesIntoTheSixWords) {
  const RunView view = view_of(write_improved);
  const auto status = [&](int id) { return view.candidates.at(id).status; };
  EXPECT_EQ(status(4), "admissible");
  EXPECT_EQ(status(5), "inadmissible");
  EXPECT_EQ(view.candidates.at(5).kind, "wrong_slice");
  EXPECT_EQ(status(6), "duplicate");
  EXPECT_EQ(view.candidates.at(6).same_as, 3);
  EXPECT_EQ(status(7), "failed");
  EXPECT_EQ(status(8), "pruned");
  EXPECT_EQ(view_of(write_undecided).candidates.at(4).status, "undecided");
}

TEST(View, SaysThatACandidateOfAGoingRunIsNotJudgedYet) {
  const RunView view = view_of(write_unfinished);
  EXPECT_EQ(view.verdict, "");
  EXPECT_EQ(view.candidates.at(3).status, "undecided");
  EXPECT_EQ(view.candidates.at(3).kind, "tried");
  EXPECT_FALSE(view.break_even);
}

TEST(View, TellsSettingsOfTheEnvironmentFromThoseOfTheEngine) {
  const RunView view = view_of(write_improved);
  const CandidateView& candidate = view.candidates.at(4);
  EXPECT_EQ(candidate.environment, (std::map<std::string, std::string>{{"ONEDNN_MAX_CPU_ISA", "AVX2"}}));
  EXPECT_EQ(candidate.settings, (std::map<std::string, std::string>{{"NUM_STREAMS", "1"}, {"shape", "static"}}));
}

TEST(View, KeepsWhatAFailureLeft) {
  const RunView view = view_of(write_improved);
  EXPECT_NE(view.candidates.at(7).log_tail.find("caught SIGSEGV"), std::string::npos);
  EXPECT_EQ(view.candidates.at(7).artifact, "");
  EXPECT_FALSE(view.candidates.at(7).latency);
}

TEST(View, BooksEverySecond) {
  for (const auto story : {write_improved, write_not_improved, write_infeasible, write_unfinished}) {
    const BudgetView budget = view_of(story).budget;
    const double sum = std::accumulate(budget.phases.begin(), budget.phases.end(), 0.0,
                                       [](double so_far, const PhaseTime& phase) { return so_far + phase.seconds; });
    EXPECT_NEAR(sum, budget.spent_seconds, 1e-9);
    for (const PhaseTime& phase : budget.phases) EXPECT_NE(phase.name, "other");
  }
}

TEST(View, BooksTheTimeOfUnknownEventsAsOther) {
  const std::vector<Event> events = {{.number = 1, .key = "a", .type = "run", .utc = "", .spent_seconds = 2, .body = "{}"},
                                     {.number = 2, .key = "b", .type = "newer", .utc = "", .spent_seconds = 5, .body = "{}"}};
  const auto phases = time_by_phase(events);
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_EQ(phases[1].name, "other");
  EXPECT_DOUBLE_EQ(phases[1].seconds, 3);
}

// 13.06 ms at a speed-up of at least 1.80 save 5.804 ms each.
TEST(View, PaysOffFromTheLowerEndOfTheInterval) {
  const RunView view = view_of(write_improved);
  ASSERT_TRUE(view.break_even);
  EXPECT_NEAR(view.break_even->saved_seconds_per_execution, 0.01306 * (1 - 1 / 1.80), 1e-12);
  ASSERT_TRUE(view.break_even->executions);
  const auto executions = static_cast<double>(*view.break_even->executions);
  EXPECT_GE(executions * view.break_even->saved_seconds_per_execution, view.budget.spent_seconds);
  EXPECT_LT((executions - 1) * view.break_even->saved_seconds_per_execution, view.budget.spent_seconds);
}

TEST(View, NeverPaysOffWithoutAProvenGain) {
  const RunView view = view_of(write_not_improved);
  ASSERT_TRUE(view.break_even);
  EXPECT_FALSE(view.break_even->executions);
  EXPECT_FALSE(view_of(write_undecided).break_even);  // its contract names no executions
}

TEST(View, SeesThatTheBaselineIsNotTheComparator) {
  const RunView view = view_of(write_not_improved);
  EXPECT_FALSE(view.baseline_admissible);
  EXPECT_EQ(view.baseline, 2);
  EXPECT_EQ(view.comparator, 1);
  EXPECT_EQ(view.ships, 1);
}

TEST(View, RefusesAFolderWithoutARun) {
  const TestFolder folder;
  const auto view = read_run(folder.path());
  ASSERT_FALSE(view);
  EXPECT_EQ(view.error().kind, ErrorKind::kUsage);
}

TEST(View, SurvivesBodiesOfOtherTypesThanExpected) {
  const TestFolder folder;
  {
    TestRun run(folder.path());
    run.event("run", "run", {{"objective", 7}, {"data", "none"}, {"machine", nullptr}, {"executions", "many"}}, 1);
    run.event("engine/x", "engine", {{"engine", 3}, {"devices", "CPU"}, {"knobs", Json::array()}}, 1);
    run.event("verdict", "verdict", {{"verdict", "improved"}, {"speedup", 2}, {"winner", "4"}}, 1);
  }
  const auto view = read_run(folder.path());
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->verdict, "improved");
  EXPECT_FALSE(view->winner);
  EXPECT_FALSE(view->speedup);
}

TEST(ShellQuoted, LetsAShellReadTheTextBack) {
  EXPECT_EQ(shell_quoted("runs/a-1.toml"), "runs/a-1.toml");
  EXPECT_EQ(shell_quoted("engine=openvino NUM_STREAMS=1"), "'engine=openvino NUM_STREAMS=1'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
}

}  // namespace
}  // namespace fiel
