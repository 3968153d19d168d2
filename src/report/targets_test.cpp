#include "report/targets.h"

#include <gmock/gmock.h>

namespace fiel {
namespace {

using ::testing::HasSubstr;

struct Made {
  std::string route, artifact;
  double milliseconds = 1;
  std::string status = "admissible";
};

// Ships the first one.
TargetRun run_of(const std::string& name, const std::vector<Made>& all) {
  TargetRun run{.name = name, .view = {}};
  run.view.verdict = "improved";
  run.view.scenario = "single_stream";
  run.view.objective = "latency_mean";
  run.view.ships = 1;
  int id = 0;
  for (const Made& made : all) {
    CandidateView candidate;
    candidate.id = ++id;
    candidate.route = made.route;
    candidate.artifact = made.artifact;
    candidate.status = made.status;
    candidate.latency.emplace();
    candidate.latency->mean_seconds = made.milliseconds / 1000;
    run.view.candidates[id] = candidate;
  }
  return run;
}

TEST(Targets, TheSameBytesThatShipEverywhereServeAll) {
  const std::vector<TargetRun> runs = {run_of("epyc", {{"A", "aaaa", 1}, {"B", "bbbb", 2}}), run_of("xeon", {{"A", "aaaa", 3}, {"B", "bbbb", 4}})};
  EXPECT_THAT(targets_text(runs), HasSubstr("one for all: yes, artifact aaaa (A)"));
}

TEST(Targets, TheOneWhoseWorstCaseIsBestIsNamedWithWhatItCosts) {
  const std::vector<TargetRun> runs = {run_of("epyc", {{"A", "aaaa", 1}, {"B", "bbbb", 1.5}, {"C", "cccc", 1.1}}),
                                       run_of("xeon", {{"B", "bbbb", 2}, {"A", "aaaa", 4}, {"C", "cccc", 2.4}})};
  const auto shared = best_for_all(runs);
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->route, "C");
  EXPECT_NEAR(shared->times_slower.at(1), 1.2, 1e-9);
  EXPECT_THAT(targets_text(runs), HasSubstr("1.100 times what ships on epyc, 1.200 times what ships on xeon"));
}

TEST(Targets, WhatIsInadmissibleSomewhereServesNobodyAndOtherBytesAreNoOneArtifact) {
  const std::vector<TargetRun> wrong = {run_of("epyc", {{"A", "aaaa", 1}}), run_of("xeon", {{"B", "bbbb", 2}, {"A", "aaaa", 1, "inadmissible"}})};
  EXPECT_FALSE(best_for_all(wrong));
  EXPECT_THAT(targets_text(wrong), HasSubstr("no route was found admissible on every target"));
  const std::vector<TargetRun> bytes = {run_of("epyc", {{"A", "aaaa", 1}}), run_of("xeon", {{"A", "eeee", 1}})};
  EXPECT_THAT(targets_text(bytes), HasSubstr("no artifact, since each target builds other bytes"));
}

}  // namespace
}  // namespace fiel
