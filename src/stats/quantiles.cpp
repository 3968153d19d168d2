#include "stats/quantiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/result.h"
#include "stats/distributions.h"

namespace fiel::stats {
namespace {

std::vector<double> sorted_copy(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

bool has_nan(std::span<const double> values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
}

double at_rank(std::span<const double> sorted, std::int64_t rank) {
  return sorted[static_cast<std::size_t>(rank - 1)];
}

double count_of(std::span<const double> values) { return static_cast<double>(values.size()); }

OrderInterval symmetric_interval(std::span<const double> sorted, std::int64_t low_rank) {
  const auto n = static_cast<std::int64_t>(sorted.size());
  const double tail = binomial_cdf(static_cast<double>(low_rank - 1), count_of(sorted), 0.5);
  return {.low = at_rank(sorted, low_rank),
          .high = at_rank(sorted, n + 1 - low_rank),
          .confidence = 1.0 - 2.0 * tail,
          .low_rank = low_rank,
          .high_rank = n + 1 - low_rank};
}

}  // namespace

double median(std::span<const double> values) { return quantile_type7(values, 0.5); }

double quantile_type7(std::span<const double> values, double p) {
  FIEL_CHECK(!values.empty());
  FIEL_CHECK(p >= 0.0 && p <= 1.0);
  if (has_nan(values)) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> copy(values.begin(), values.end());
  const double position = (count_of(values) - 1.0) * p;
  const auto below = static_cast<std::ptrdiff_t>(std::floor(position));
  std::nth_element(copy.begin(), copy.begin() + below, copy.end());
  const double low = copy[static_cast<std::size_t>(below)];
  const double fraction = position - std::floor(position);
  if (fraction == 0.0) return low;
  const double high = *std::min_element(copy.begin() + below + 1, copy.end());
  return low + fraction * (high - low);
}

double quantile_type7_of_sorted(std::span<const double> sorted, double p) {
  FIEL_CHECK(!sorted.empty());
  FIEL_CHECK(p >= 0.0 && p <= 1.0);
  const double position = (count_of(sorted) - 1.0) * p;
  const auto below = static_cast<std::size_t>(position);
  const double low = sorted[below];
  return low + (position - std::floor(position)) * (sorted[std::min(below + 1, sorted.size() - 1)] - low);
}

std::optional<PercentileBound> percentile_upper_bound(std::span<const double> sorted, double p,
                                                      double confidence) {
  FIEL_CHECK(std::is_sorted(sorted.begin(), sorted.end()));
  const double n = count_of(sorted);
  const auto holds = [&](std::int64_t rank) {
    return binomial_cdf(static_cast<double>(rank - 1), n, p);
  };
  auto high = static_cast<std::int64_t>(sorted.size());
  if (high == 0 || has_nan(sorted) || !(holds(high) >= confidence)) return std::nullopt;
  // binomial_cdf(n-1, n, p) is 1 - p^n; the confidence grows with the rank, so halving finds the
  // smallest rank that is enough.
  std::int64_t low = 0;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (holds(middle) >= confidence ? high : low) = middle;
  }
  return PercentileBound{at_rank(sorted, high), high, holds(high)};
}

std::optional<PercentileBound> percentile_lower_bound(std::span<const double> sorted, double p,
                                                      double confidence) {
  std::vector<double> mirrored(sorted.rbegin(), sorted.rend());
  for (double& value : mirrored) value = -value;
  auto bound = percentile_upper_bound(mirrored, 1.0 - p, confidence);
  if (!bound) return std::nullopt;
  const auto n = static_cast<std::int64_t>(sorted.size());
  return PercentileBound{-bound->value, n + 1 - bound->rank, bound->confidence};
}

std::optional<OrderInterval> percentile_interval(std::span<const double> sorted, double p,
                                                 double confidence) {
  const double one_sided = 1.0 - (1.0 - confidence) / 2.0;
  const auto low = percentile_lower_bound(sorted, p, one_sided);
  const auto high = percentile_upper_bound(sorted, p, one_sided);
  if (!low || !high) return std::nullopt;
  return OrderInterval{.low = low->value,
                       .high = high->value,
                       .confidence = low->confidence + high->confidence - 1.0,
                       .low_rank = low->rank,
                       .high_rank = high->rank};
}

std::optional<OrderInterval> median_interval(std::span<const double> values, double confidence) {
  if (values.size() < 2 || has_nan(values)) return std::nullopt;
  const auto sorted = sorted_copy(values);
  std::optional<OrderInterval> best;
  for (std::int64_t rank = 1; rank <= static_cast<std::int64_t>(sorted.size()) / 2; ++rank) {
    const auto interval = symmetric_interval(sorted, rank);
    if (!(interval.confidence >= confidence)) break;
    best = interval;
  }
  return best;
}

std::optional<OrderInterval> second_smallest_to_second_largest(std::span<const double> values) {
  if (values.size() < 4 || has_nan(values)) return std::nullopt;
  return symmetric_interval(sorted_copy(values), 2);
}

}  // namespace fiel::stats
