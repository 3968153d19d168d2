#include "search/trial_costs.h"

#include <algorithm>

#include "stats/quantiles.h"

namespace fiel {
namespace {

constexpr double kPart = 0.9;
constexpr const char* kVariant = "variant";  // the knob whose value is another model (decide/variants.h)

void insert(std::vector<double>& sorted, double seconds) { sorted.insert(std::ranges::upper_bound(sorted, seconds), seconds); }

std::string kind_of(const BuildRoute& route) { return route.engine + ' ' + setting_or(route, kVariant, ""); }

}  // namespace

void TrialCosts::tell(const Trial& trial) {
  if (!trial.seconds) return;
  insert(all_, *trial.seconds);
  insert(by_kind_[kind_of(trial.route)], *trial.seconds);
}

double TrialCosts::at_most_seconds(const BuildRoute& route) const {
  if (all_.empty()) return first_guess_seconds_;
  const auto kind = by_kind_.find(kind_of(route));
  // Sorted already: each trial asks, so sorting for each would grow with the square of their number.
  return stats::quantile_type7_of_sorted(kind == by_kind_.end() ? all_ : kind->second, kPart);
}

}  // namespace fiel
