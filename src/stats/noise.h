// How far apart are two blocks of timings, and how restless are the rounds and sessions?
//
// Knows numbers, not clocks. Ratios are compared as logarithms, so that "twice as fast" and "half
// as fast" are equally far from nothing. These are gauges: no decision about a winner is taken
// here.
#pragma once

#include <optional>
#include <span>

namespace fiel::stats {

/// ln(t_comparator / t_candidate): positive means the candidate is faster. Twice as fast: 0.693.
/// NaN unless both times are positive.
double log_speedup(double comparator_time, double candidate_time);

/// exp of the log-ratio: 1.25 reads "1.25 times as fast".
double speedup_from_log(double log_ratio);

/// Median of the rounds' log-ratios, the value of one session (methodology A4). Same length, in the
/// order of rounds.
double median_log_speedup(std::span<const double> comparator_times,
                          std::span<const double> candidate_times);

double geometric_mean(std::span<const double> values);

double mean(std::span<const double> values);

/// With n-1; nothing below two values.
std::optional<double> standard_deviation(std::span<const double> values);

/// Median distance from the median, times 1.4826 so that it estimates the standard deviation of
/// normal noise. Of 1, 2, 1.7, 3, 2.5, 2.4: 0.593041. One wild value does not move it.
double median_absolute_deviation(std::span<const double> values);

/// Sum of products of neighbouring deviations over the sum of squared deviations (Box & Jenkins).
/// Of 1, 2, 1.7, 3, 2.5, 2.4: 0.110656. Nothing where nothing varies. Above about 2/sqrt(n) the
/// values are not independent and counting them as such overstates what is known.
std::optional<double> autocorrelation_lag1(std::span<const double> values);

/// Above this standard deviation of the sessions' log-ratios, the verdict is `undecided` for noise.
inline constexpr double kRestlessSessionDeviation = 0.05;

}  // namespace fiel::stats
