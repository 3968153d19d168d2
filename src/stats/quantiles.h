// What is the middle, or a percentile, of these values, and how sure is that?
//
// Knows nothing of time or units: values in, values out. Bounds are order statistics with binomial
// coverage, so they hold for every continuous distribution (and are cautious where values tie), as
// long as the values are independent. Too few values give no bound rather than a guess.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace fiel::stats {

/// Middle value, or the mean of the two middle ones. At least one value; NaN where any value is
/// NaN.
double median(std::span<const double> values);

/// Linear interpolation at rank 1 + (n-1)p (Hyndman & Fan 1996, type 7: numpy's default).
/// Of 1, 2, 3, 4 at p = 0.9 it is 3.7.
double quantile_type7(std::span<const double> values, double p);

/// The same of values that are ascending and no NaN, without a look at each of them.
double quantile_type7_of_sorted(std::span<const double> sorted, double p);

struct PercentileBound {
  double value;
  std::int64_t rank;  // 1-based, in ascending order
  double confidence;  // that really holds: at least what was asked for
};

/// Smallest value that lies at or above the true p-quantile with the given confidence: the order
/// statistic of rank r has P(X_(r) >= quantile) = P(Bin(n, p) <= r-1). Nothing where even the
/// largest value is not enough, n < ln(1-confidence)/ln p: at 99 % the largest value serves from
/// n = 44 (p90), 90 (p95), 459 (p99), and the second largest from 64, 130, 662: MLPerf's early
/// stopping table (methodology A1). `sorted` is ascending.
std::optional<PercentileBound> percentile_upper_bound(std::span<const double> sorted, double p,
                                                      double confidence);

/// The mirror image: largest value at or below the true p-quantile.
std::optional<PercentileBound> percentile_lower_bound(std::span<const double> sorted, double p,
                                                      double confidence);

struct OrderInterval {
  double low;
  double high;
  double confidence;  // that really holds
  std::int64_t low_rank;
  std::int64_t high_rank;
};

/// Two-sided: each tail holds at most half of 1 - confidence. `sorted` is ascending.
std::optional<OrderInterval> percentile_interval(std::span<const double> sorted, double p,
                                                 double confidence);

/// Narrowest symmetric pair of order statistics that covers the median with at least the given
/// confidence: ranks r and n+1-r cover with 1 - 2 P(Bin(n, 1/2) <= r-1). Values in any order.
/// n = 5 at 95 % has none (1 - 2/32 = 0.9375); n = 10 takes the 2nd and the 9th.
std::optional<OrderInterval> median_interval(std::span<const double> values, double confidence);

/// The interval of the reported speed-up (methodology B2): for n = 10 its confidence is
/// 1 - 2*11/1024 = 0.9785. Nothing below four values.
std::optional<OrderInterval> second_smallest_to_second_largest(std::span<const double> values);

}  // namespace fiel::stats
