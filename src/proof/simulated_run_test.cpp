#include "proof/simulated_run.h"

#include <gtest/gtest.h>

#include <chrono>

namespace fiel {
namespace {

SimulatedMachine machine_of(std::vector<SimulatedCandidate> candidates, std::uint64_t seed) {
  SimulatedMachine machine;
  machine.sigma = 0.005;
  machine.noise = stats::NoiseKind::kProcessOffset;
  machine.seed = seed;
  machine.candidates = std::move(candidates);
  return machine;
}

TEST(SimulatedRun, AFasterCandidateThatIsAsAccurateWins) {
  const auto project = SimulatedProject::create({});
  ASSERT_TRUE(project) << project.error().message;
  const auto outcome = project->run(machine_of({{"default"}, {"fast", 0.2}}, 1));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->word, VerdictWord::kImproved) << outcome->reason;
  ASSERT_TRUE(outcome->winner_log_gain);
  EXPECT_DOUBLE_EQ(*outcome->winner_log_gain, 0.2);
  EXPECT_EQ(outcome->deciding_sessions, 8);
  EXPECT_EQ(outcome->estimates.size(), 10U);
}

TEST(SimulatedRun, AFasterCandidateThatIsWrongTooOftenDoesNotShip) {
  const auto project = SimulatedProject::create({.tuning = 200});
  ASSERT_TRUE(project) << project.error().message;
  const auto outcome = project->run(
      machine_of({{"default"}, {"wrong", 0.2, 0.4}}, 1));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->word, VerdictWord::kNotImproved) << outcome->reason;
  EXPECT_FALSE(outcome->winner_log_gain);
}

}  // namespace
}  // namespace fiel
