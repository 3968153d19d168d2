#include "search/trial_costs.h"

#include <algorithm>
#include <cstddef>

namespace fiel {
namespace {

constexpr double kPart = 0.9;
constexpr const char* kVariant = "variant";  // the knob whose value is another model (decide/variants.h)

void insert(std::vector<double>& sorted, double seconds) { sorted.insert(std::ranges::upper_bound(sorted, seconds), seconds); }

// Type 7, of what is sorted already: each trial asks, so sorting for each would grow with the square of their number.
double quantile_of_sorted(const std::vector<double>& sorted, double p) {
  const double rank = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const double part = rank - static_cast<double>(below);
  return sorted[below] + part * (sorted[std::min(below + 1, sorted.size() - 1)] - sorted[below]);
}

std::string kind_of(const BuildRoute& route) {
  const auto variant = route.settings.find(kVariant);
  return route.engine + ' ' + (variant == route.settings.end() ? std::string() : variant->second);
}

}  // namespace

void TrialCosts::tell(const Trial& trial) {
  if (!trial.seconds) return;
  insert(all_, *trial.seconds);
  insert(by_kind_[kind_of(trial.route)], *trial.seconds);
}

double TrialCosts::at_most_seconds(const BuildRoute& route) const {
  if (all_.empty()) return first_guess_seconds_;
  const auto kind = by_kind_.find(kind_of(route));
  return quantile_of_sorted(kind == by_kind_.end() ? all_ : kind->second, kPart);
}

}  // namespace fiel
