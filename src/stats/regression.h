// Is what was once proven faster still faster? The rule of `fiel verify` over a fixed number of sessions of fresh process
// pairs: an alarm that rarely cries wolf, not a proof (docs/decisions/0012-verify.md).
//
// Values are session log-ratios ln(t_comparator/t_candidate), as in e_process.h. Of 8 sessions the interval from the second
// smallest to the second largest covers the median with 1 - 2 P(Bin(8, 1/2) <= 1) = 93.0 %. The alarm is that all of it
// lies at or below ln(1 + min_gain): at most one session was won. Where half of all sessions would be won that happens in
// 9/256 = 3.5 %; a nominee that the proof confirms wins far more of them (0.8: in 0.0084 %, 0.9: in 7.3e-7).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "stats/quantiles.h"

namespace fiel::stats {

inline constexpr std::int64_t kRegressionSessions = 8;

enum class StillFaster {
  kYes,       // the median gain is above min_gain
  kDoubtful,  // it is not, but two sessions or more were won: no alarm, worth another look on a quiet machine
  kNo,        // at most one session was won
  kUnknown,   // fewer sessions than kRegressionSessions: the machine was too busy
};

struct SpeedRegression {
  StillFaster word = StillFaster::kUnknown;
  std::int64_t won = 0;
  std::optional<double> median;            // of the log-ratios
  std::optional<OrderInterval> interval;   // second smallest to second largest
};

/// A NaN is a session that was lost.
SpeedRegression judge_speed_regression(std::span<const double> log_ratios, double min_gain);

}  // namespace fiel::stats
