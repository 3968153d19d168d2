#include "stats/regression.h"

#include <algorithm>
#include <cmath>

#include "stats/e_process.h"

namespace fiel::stats {

SpeedRegression judge_speed_regression(std::span<const double> log_ratios, double min_gain) {
  SpeedRegression result;
  if (log_ratios.empty()) return result;
  result.won = std::ranges::count_if(log_ratios, [&](double ratio) { return session_is_won(ratio, min_gain); });
  result.median = median(log_ratios);
  result.interval = second_smallest_to_second_largest(log_ratios);
  if (std::ssize(log_ratios) < kRegressionSessions) return result;
  if (*result.median > std::log1p(min_gain)) {
    result.word = StillFaster::kYes;
  } else {
    result.word = result.won <= 1 ? StillFaster::kNo : StillFaster::kDoubtful;
  }
  return result;
}

}  // namespace fiel::stats
