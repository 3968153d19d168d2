#include "search/expected_gain.h"

#include <algorithm>
#include <cmath>

#include "stats/distributions.h"

namespace fiel {

double log_expected_improvement(double best, const Believed& time) {
  const double z = (best - time.mean) / time.deviation;
  const double density = 0.3989422804014327 * std::exp(-0.5 * z * z);
  if (z > -5) return std::log(time.deviation) + std::log(std::max(1e-300, z * stats::normal_cdf(z) + density));
  return std::log(time.deviation) - 0.5 * z * z - 0.9189385332046727 - 2 * std::log(-z);  // its expansion for z far below 0
}

// The mean of a log-normal below a limit: exp(mean + deviation^2 / 2) Phi(z - deviation).
double expected_share(double best, const Believed& time) {
  const double z = (best - time.mean) / time.deviation;
  const double taken = std::exp(time.mean - best + 0.5 * time.deviation * time.deviation) * stats::normal_cdf(z - time.deviation);
  return std::max(0.0, stats::normal_cdf(z) - taken);
}

}  // namespace fiel
