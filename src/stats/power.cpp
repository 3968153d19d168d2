#include "stats/power.h"

#include <cmath>
#include <vector>

#include "base/result.h"
#include "stats/distributions.h"
#include "stats/e_process.h"

namespace fiel::stats {

double confirmation_chance(double win_chance, double alpha, std::int64_t sessions) {
  FIEL_CHECK(alpha > 0.0 && alpha < 1.0);
  const double enough = -std::log(alpha);
  // open[k]: probability of k wins so far without a confirmation at any look.
  std::vector<double> open = {1.0};
  double confirmed = 0.0;
  for (std::int64_t all = 1; all <= sessions; ++all) {
    std::vector<double> next(open.size() + 1, 0.0);
    for (std::size_t won = 0; won < open.size(); ++won) {
      next[won] += open[won] * (1.0 - win_chance);
      next[won + 1] += open[won] * win_chance;
    }
    for (std::size_t won = 0; won < next.size(); ++won) {
      if (next[won] > 0.0 && log_e_value({.won = static_cast<std::int64_t>(won), .all = all}) >= enough) {
        confirmed += next[won];
        next[won] = 0.0;
      }
    }
    open = std::move(next);
  }
  return confirmed;
}

std::optional<double> needed_win_chance(double power, double alpha, std::int64_t sessions) {
  if (sessions < fewest_sessions_to_confirm(alpha)) return std::nullopt;
  // The chance grows with the win chance: a win instead of a loss never lowers E.
  double low = 0.5, high = 1.0;
  for (int step = 0; step < 50; ++step) {
    const double middle = (low + high) / 2;
    (confirmation_chance(middle, alpha, sessions) >= power ? high : low) = middle;
  }
  return high;
}

std::optional<double> smallest_provable_gain(const ProofConditions& conditions) {
  const auto chance = needed_win_chance(conditions.power, conditions.alpha, conditions.sessions);
  if (!chance || !(conditions.deviation >= 0.0) || !std::isfinite(conditions.deviation)) return std::nullopt;
  return std::expm1(std::log1p(conditions.min_gain) + conditions.deviation * normal_quantile(*chance));
}

}  // namespace fiel::stats
