#include "search/trial_costs.h"

#include "stats/quantiles.h"

namespace fiel {
namespace {

constexpr double kPart = 0.9;
constexpr const char* kVariant = "variant";  // the knob whose value is another model (decide/variants.h)

std::string kind_of(const BuildRoute& route) {
  const auto variant = route.settings.find(kVariant);
  return route.engine + ' ' + (variant == route.settings.end() ? std::string() : variant->second);
}

}  // namespace

void TrialCosts::tell(const Trial& trial) {
  if (!trial.seconds) return;
  all_.push_back(*trial.seconds);
  by_kind_[kind_of(trial.route)].push_back(*trial.seconds);
}

double TrialCosts::at_most_seconds(const BuildRoute& route) const {
  if (all_.empty()) return first_guess_seconds_;
  const auto kind = by_kind_.find(kind_of(route));
  return stats::quantile_type7(kind == by_kind_.end() ? all_ : kind->second, kPart);
}

}  // namespace fiel
