#include "replay/stopping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/rng.h"
#include "stats/quantiles.h"

namespace fiel {
namespace {

constexpr double kMedianSeconds = 0.01;  // of an execution
constexpr double kTrialSeconds = 5;      // of a mean trial
constexpr double kMinGain = 0.01;        // a contract's default

std::vector<double> planned_executions() {
  std::vector<double> planned = {0};
  for (int exponent = 2; exponent <= 18; ++exponent) planned.push_back(std::pow(10, exponent / 2.0));  // 10 to 1e9
  return planned;
}

// One repeat: what is known before, and the state after 0, 1, 2, ... trials.
struct Path {
  Simulation simulation;
  double comparator = 0;                    // value
  std::vector<double> values, mean_trials;  // best value so far, never worse than the comparator; what the trials took
};

Path path_of(Simulation simulation, const Yardstick& yardstick) {
  Path path{.simulation = std::move(simulation), .comparator = yardstick.median(), .values = {}, .mean_trials = {}};
  double best = path.comparator, seconds = 0;
  for (std::size_t i = 0; i < path.simulation.steps.size(); ++i) {
    const Step& step = path.simulation.steps[i];
    if (i == 0 && step.admissible) best = path.comparator = step.best;
    if (i > 0) seconds += step.seconds;
    best = std::min(best, step.best);
    path.values.push_back(best);
    path.mean_trials.push_back(seconds / yardstick.seconds_per_draw());
  }
  return path;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

BreakEvenAt break_even_at(double executions, std::span<const Path> paths, const Yardstick& yardstick) {
  BreakEvenAt at{.executions = executions};
  std::size_t longest = std::numeric_limits<std::size_t>::max();
  for (const Path& path : paths) longest = std::min(longest, path.values.size());
  const auto bill = [&](const Path& path, std::size_t trials) {
    return executions * kMedianSeconds * path.values[trials] / yardstick.median() + kTrialSeconds * path.mean_trials[trials];
  };
  std::vector<double> bills, trials;
  for (const Path& path : paths) {
    // In the recording's own seconds, in which the strategy was told what trials cost.
    const double worth = executions * kMedianSeconds / kTrialSeconds * yardstick.seconds_per_draw() * path.comparator / yardstick.median();
    const StopRule::Terms terms{.worth_seconds = worth, .min_gain = kMinGain, .first_guess_seconds = yardstick.seconds_per_draw()};
    const std::size_t stop = std::min(longest - 1, stops_after(path.simulation, terms, path.comparator));
    bills.push_back(bill(path, stop));
    trials.push_back(static_cast<double>(stop));
  }
  at.bill = mean(bills);
  at.stop_trials = mean(trials);
  at.best_fixed_bill = std::numeric_limits<double>::infinity();
  for (std::size_t fixed = 0; fixed < longest; ++fixed) {
    for (std::size_t i = 0; i < paths.size(); ++i) bills[i] = bill(paths[i], fixed);
    at.fixed_bills.push_back(mean(bills));
    if (!(mean(bills) < at.best_fixed_bill)) continue;
    at.best_fixed_bill = mean(bills);
    at.best_fixed_trials = static_cast<double>(fixed);
  }
  const double optimum = executions * kMedianSeconds * yardstick.optimum() / yardstick.median();
  at.regret = at.bill - optimum;
  at.best_fixed_regret = at.best_fixed_bill - optimum;
  return at;
}

PlateauAt plateau_at(std::span<const Path> paths, const Yardstick& yardstick) {
  std::vector<double> trials, all, regrets, ends;
  for (const Path& path : paths) {
    const StopRule::Terms terms{.worth_seconds = {}, .min_gain = kMinGain, .first_guess_seconds = yardstick.seconds_per_draw()};
    const std::size_t last = path.values.size() - 1, stop = std::min(last, stops_after(path.simulation, terms, path.comparator));
    trials.push_back(static_cast<double>(stop));
    all.push_back(static_cast<double>(last));
    regrets.push_back(path.values[stop] / yardstick.optimum() - 1);
    ends.push_back(path.values[last] / yardstick.optimum() - 1);
  }
  return {.stop_trials = mean(trials), .all_trials = mean(all), .regret = mean(regrets), .regret_p95 = stats::quantile_type7(regrets, 0.95),
          .regret_of_all = mean(ends)};
}

}  // namespace

std::size_t stops_after(const Simulation& simulation, const StopRule::Terms& terms, double comparator_value) {
  StopRule rule(terms);
  rule.tell({.route = {}, .outcome = Trial::Outcome::kAdmissibleSoFar, .log_speedup = 0.0, .seconds = {}});
  for (std::size_t i = 1; i < simulation.steps.size(); ++i) {
    const Step& step = simulation.steps[i];
    if (rule.look(step.outlook)) return i - 1;
    Trial trial{.route = {}, .outcome = step.admissible ? Trial::Outcome::kAdmissibleSoFar : Trial::Outcome::kFailed, .log_speedup = {}, .seconds = step.seconds};
    if (step.value) trial.log_speedup = std::log(comparator_value / *step.value);
    rule.tell(trial);
  }
  return simulation.steps.size();
}

// Each value of each knob has a weight drawn by chance; the logarithm of the cost is their sum, stretched to the spread.
Recording with_costs_spread(Recording recording, double spread) {
  Rng rng(sub_seed(1, "costs"));
  std::map<std::pair<std::string, std::string>, double> weights;
  std::vector<double> sums;
  for (const auto& [route, recorded] : recording.records) {
    double sum = 0;
    for (const auto& setting : route.settings) {
      const auto [weight, is_new] = weights.try_emplace(setting, 0.0);
      if (is_new) weight->second = rng.uniform01();
      sum += weight->second;
    }
    sums.push_back(sum);
  }
  const auto [low, high] = std::ranges::minmax(sums);
  std::size_t i = 0;
  for (auto& [route, recorded] : recording.records) {
    const double factor = high > low ? std::pow(spread, (sums[i] - low) / (high - low)) : 1.0;
    recorded.fixed_seconds *= factor;
    recorded.timing_seconds *= factor;
    ++i;
  }
  return recording;
}

Result<StoppingSummary> replay_stopping(const Recording& recording, const StoppingOptions& options) {
  if (options.spread > 1) {
    StoppingOptions as_recorded = options;
    as_recorded.spread = 1;
    StoppingSummary summary = FIEL_TRY(replay_stopping(with_costs_spread(recording, options.spread), as_recorded));
    summary.spread = options.spread;
    return summary;
  }
  const Yardstick yardstick(recording);
  SimulationOptions each = options.replay.each;
  each.start = options.replay.start.value_or(recording.default_route ? StartAt::kDefault : StartAt::kRandom);
  std::vector<Path> paths;
  for (int repeat = 0; repeat < options.replay.repeats; ++repeat) {
    each.seed = sub_seed(options.replay.each.seed, "repeat " + std::to_string(repeat));
    Simulation simulation = FIEL_TRY(simulate(recording, yardstick, each));
    if (simulation.steps.empty()) return fail(ErrorKind::kUsage, "the strategy asked for nothing");
    paths.push_back(path_of(std::move(simulation), yardstick));
  }
  StoppingSummary summary{.space = recording.name, .strategy = std::string(each.strategy), .repeats = options.replay.repeats, .spread = 1, .break_even = {}, .plateau = plateau_at(paths, yardstick)};
  for (const double executions : planned_executions()) summary.break_even.push_back(break_even_at(executions, paths, yardstick));
  return summary;
}

}  // namespace fiel
