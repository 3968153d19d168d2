#include "replay/replay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "stats/distributions.h"
#include "stats/quantiles.h"

namespace fiel {
namespace {

constexpr std::array<std::int64_t, 5> kRegretsAt = {10, 20, 50, 100, 250};

MeanInterval mean_interval(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() < 2) return {mean, -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half = stats::student_t_quantile(0.975, count - 1) * std::sqrt(squares / (count - 1) / count);
  return {mean, mean - half, mean + half};
}

}  // namespace

Result<ReplaySummary> replay(const Recording& recording, const ReplayOptions& options) {
  const Yardstick yardstick(recording);
  const auto admissible = std::ranges::count_if(recording.records, [](const auto& entry) { return entry.second.found().has_value(); });
  ReplaySummary summary{.space = recording.name,
                        .strategy = std::string(options.each.strategy),
                        .configurations = std::ssize(recording.records),
                        .admissible = admissible,
                        .repeated = recording.repeated,
                        .optimum = yardstick.optimum(),
                        .median = yardstick.median(),
                        .seconds_per_draw = yardstick.seconds_per_draw(),
                        .start_seconds = yardstick.start_seconds(),
                        .end_seconds = yardstick.end_seconds(),
                        .repeats = options.repeats,
                        .score = {},
                        .scores = {},
                        .regrets = {},
                        .failures_per_repeat = 0,
                        .proposal_ms = 0};
  SimulationOptions each = options.each;
  each.seconds = yardstick.end_seconds();
  each.start = options.start.value_or(recording.default_route ? StartAt::kDefault : StartAt::kRandom);
  std::vector<std::vector<double>> regrets(kRegretsAt.size());
  double proposals = 0, evaluations = 0;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    each.seed = sub_seed(options.each.seed, "repeat " + std::to_string(repeat));
    const Simulation simulation = FIEL_TRY(simulate(recording, yardstick, each));
    if (simulation.best_after.empty()) return fail(ErrorKind::kUsage, "the strategy asked for nothing");
    summary.scores.push_back(yardstick.score(simulation.improvements));
    for (std::size_t i = 0; i < kRegretsAt.size(); ++i) {
      const auto at = std::min(kRegretsAt[i], std::ssize(simulation.best_after));
      regrets[i].push_back(simulation.best_after[static_cast<std::size_t>(at) - 1] / yardstick.optimum() - 1);
    }
    summary.failures_per_repeat += static_cast<double>(simulation.failures) / options.repeats;
    proposals += simulation.proposal_seconds;
    evaluations += static_cast<double>(simulation.best_after.size());
  }
  summary.score = mean_interval(summary.scores);
  summary.proposal_ms = 1e3 * proposals / evaluations;
  for (std::size_t i = 0; i < kRegretsAt.size(); ++i) {
    summary.regrets.push_back({kRegretsAt[i], mean_interval(regrets[i]), stats::quantile_type7((std::ranges::sort(regrets[i]), regrets[i]), 0.95)});
  }
  return summary;
}

}  // namespace fiel
