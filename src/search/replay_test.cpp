// The strategies on recorded answers, without an engine: a space whose knobs act together, as real
// ones do (static shapes pay only with few threads, a precision only with its preset).
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/rng.h"
#include "route/test_space.h"
#include "search/strategy.h"

namespace fiel {
namespace {

// 2 x 2 x 4 x 3 x 3 x 3 x 2 = 864 routes.
Space recorded_space() {
  return *Space::create(
      {{"alpha",
        {example_knob("shape", {"dynamic", "static"}),
         example_knob("preset", {"plain", "transformer"}),
         example_knob("variant", {"float32", "mixed", "int8", "int4"}),
         example_knob("threads", {"auto", "1", "2"}), example_knob("streams", {"1", "2", "4"}),
         example_knob("hint", {"latency", "throughput", "none"}),
         example_knob("pinning", {"no", "yes"})},
        {}}});
}

bool has(const BuildRoute& route, const char* knob, const char* value) {
  const auto found = route.settings.find(knob);
  return found != route.settings.end() && found->second == value;
}

Trial recorded(const BuildRoute& route) {
  double log_speedup = 0.0;
  if (has(route, "variant", "mixed")) log_speedup += 0.10;
  if (has(route, "variant", "int8")) log_speedup += 0.25;
  if (has(route, "variant", "int4")) log_speedup += 0.60;
  if (has(route, "preset", "transformer")) log_speedup += 0.02;
  if (has(route, "shape", "static")) log_speedup += 0.03;
  if (has(route, "threads", "2")) log_speedup += 0.04;
  if (has(route, "threads", "1")) log_speedup -= 0.12;
  if (has(route, "hint", "none")) log_speedup += 0.015;
  // Together they are worth more than alone.
  if (has(route, "shape", "static") && has(route, "threads", "2")) log_speedup += 0.15;
  if (has(route, "variant", "int8") && has(route, "preset", "transformer")) log_speedup += 0.12;
  if (has(route, "variant", "mixed") && has(route, "shape", "static")) log_speedup -= 0.06;
  const bool is_wrong = has(route, "variant", "int4");
  return {route, is_wrong ? Trial::Outcome::kRejected : Trial::Outcome::kAdmissibleSoFar,
          log_speedup};
}

struct Replay {
  double best = 0.0;  // log speedup of the best admissible route
  int asked = 0;
};

Replay replay(std::string_view name, int budget, std::uint64_t seed = 1) {
  auto strategy = *make_strategy(name, recorded_space(), {"alpha", {}}, seed);
  Replay result;
  while (result.asked < budget) {
    const auto route = strategy->ask();
    if (!route) break;
    const Trial trial = recorded(*route);
    strategy->tell(trial);
    result.asked += 1;
    if (trial.outcome == Trial::Outcome::kAdmissibleSoFar) {
      result.best = std::max(result.best, *trial.log_speedup);
    }
  }
  return result;
}

TEST(Replay, MixedFindsWhatOneKnobAtATimeCannot) {
  const Replay fast = replay("fast", 1000), mixed = replay("mixed", 1000);
  EXPECT_NEAR(fast.best, 0.25, 1e-12);  // int8 alone
  EXPECT_GT(mixed.best, fast.best + 0.3);
  EXPECT_LT(mixed.asked, 100);
  EXPECT_NEAR(mixed.best, replay("full", 1000).best, 1e-12);
}

TEST(Replay, MixedNeedsOnlyAFewProducts) {
  const int one_offs = replay("fast", 1000).asked;
  EXPECT_NEAR(replay("mixed", one_offs + 1).best, replay("full", 1000).best, 1e-12);
}

TEST(Replay, AtTheSameBudgetMixedBeatsRandom) {
  const int budget = 20;
  double random = 0.0;
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    random += replay("random", budget, seed).best / 50;
  EXPECT_GT(replay("mixed", budget).best, random);
}

TEST(Replay, AutoEndsWithTheBestOfAll) {
  const Replay result = replay("auto", 1000);
  EXPECT_EQ(result.asked, 864);
  EXPECT_NEAR(result.best, replay("full", 1000).best, 1e-12);
}

}  // namespace
}  // namespace fiel
