#include "replay/simulate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include "stats/quantiles.h"

namespace fiel {
namespace {

using RealClock = std::chrono::steady_clock;

BuildRoute random_recorded(const Recording& recording, Rng& rng) {
  return std::next(recording.records.begin(), static_cast<std::ptrdiff_t>(rng.below(recording.records.size())))->first;
}

struct Visit {
  std::optional<double> told;
  double seconds = 0;
};

Visit visit(const Recorded& recorded, const SimulationOptions& options, Rng& rng) {
  if (options.noise == Noise::kNone || recorded.timings.empty()) return {recorded.value, recorded.seconds()};
  std::vector<double> drawn;
  for (int i = 0; i < options.timings; ++i) drawn.push_back(recorded.timings[static_cast<std::size_t>(rng.below(recorded.timings.size()))]);
  const double each = recorded.timing_seconds / static_cast<double>(recorded.timings.size());
  return {stats::median(drawn), recorded.fixed_seconds + each * options.timings};
}

}  // namespace

Result<Simulation> simulate(const Recording& recording, const Yardstick& yardstick, const SimulationOptions& options) {
  Rng start_rng(sub_seed(options.seed, "start")), noise_rng(sub_seed(options.seed, "noise"));
  const bool is_random = options.start == StartAt::kRandom || !recording.default_route;
  const BuildRoute start = is_random ? random_recorded(recording, start_rng) : *recording.default_route;
  auto began = RealClock::now();
  const auto strategy = FIEL_TRY(make_strategy(options.strategy, recording.space, start, sub_seed(options.seed, "search")));
  Simulation simulation;
  const auto book = [&] { simulation.proposal_seconds += std::chrono::duration<double>(RealClock::now() - began).count(); };
  book();
  // Strategies see ratios to one yardstick; which one changes nothing but a constant.
  const double comparator = yardstick.median();
  std::set<BuildRoute> visited;
  double best_told = std::numeric_limits<double>::infinity(), best = yardstick.worst();
  const auto is_over = [&] {
    if (std::ssize(simulation.best_after) < options.evaluations) return false;
    return simulation.clock_seconds >= options.seconds || (options.noise == Noise::kNone && best <= yardstick.optimum());
  };
  while (!is_over()) {
    began = RealClock::now();
    const auto route = strategy->ask();
    book();
    if (!route) break;
    const auto found = recording.records.find(*route);
    FIEL_CHECK(found != recording.records.end());
    const bool is_new = visited.insert(*route).second;
    const Recorded& recorded = found->second;
    const Visit seen = is_new ? visit(recorded, options, noise_rng) : Visit{};
    if (is_new) {
      simulation.clock_seconds += seen.seconds;
      if (!recorded.found()) {
        ++simulation.failures;
      } else if (*seen.told < best_told) {
        best_told = *seen.told;
        best = *recorded.found();
        simulation.improvements.push_back({simulation.clock_seconds, best});
      }
      simulation.best_after.push_back(best);
      simulation.steps.push_back({.seconds = seen.seconds, .value = seen.told, .admissible = recorded.found().has_value(), .best = best, .outlook = strategy->outlook()});
    }
    Trial trial{.route = *route, .outcome = recorded.outcome, .log_speedup = {}, .seconds = seen.seconds};
    if (seen.told) trial.log_speedup = std::log(comparator / *seen.told);
    began = RealClock::now();
    strategy->tell(trial);
    book();
  }
  return simulation;
}

}  // namespace fiel
