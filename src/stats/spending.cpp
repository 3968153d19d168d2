#include "stats/spending.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/result.h"

namespace fiel::stats {

double nominee_alpha(double alpha, std::int64_t nominee) {
  FIEL_CHECK(alpha > 0.0 && alpha < 1.0 && nominee >= 1);
  return alpha * std::exp2(-static_cast<double>(nominee));
}

double opening_alpha(double alpha, std::int64_t opening) {
  FIEL_CHECK(alpha > 0.0 && alpha < 1.0 && opening >= 1);
  const double j = std::numbers::pi * static_cast<double>(opening);
  return 6.0 * alpha / (j * j);
}

double holdout_alpha(double alpha, const Turn& turn) {
  return std::min(nominee_alpha(alpha, turn.nominee), opening_alpha(alpha, turn.opening));
}

}  // namespace fiel::stats
