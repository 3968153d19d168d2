#include "stats/noise.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/result.h"
#include "stats/quantiles.h"

namespace fiel::stats {
namespace {

// 1 / normal_quantile(0.75): the median distance of normal noise is 0.6745 standard deviations.
constexpr double kNormalScale = 1.482602218505602;

double squared_deviations(std::span<const double> values, double middle) {
  double sum = 0.0;
  for (double value : values) sum += (value - middle) * (value - middle);
  return sum;
}

}  // namespace

double log_speedup(double comparator_time, double candidate_time) {
  if (!(comparator_time > 0.0) || !(candidate_time > 0.0)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return std::log(comparator_time / candidate_time);
}

double speedup_from_log(double log_ratio) { return std::exp(log_ratio); }

double median_log_speedup(std::span<const double> comparator_times,
                          std::span<const double> candidate_times) {
  FIEL_CHECK(comparator_times.size() == candidate_times.size());
  std::vector<double> ratios;
  for (std::size_t round = 0; round < comparator_times.size(); ++round) {
    ratios.push_back(log_speedup(comparator_times[round], candidate_times[round]));
  }
  return median(ratios);
}

double geometric_mean(std::span<const double> values) {
  FIEL_CHECK(!values.empty());
  double sum = 0.0;
  for (double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

double mean(std::span<const double> values) {
  FIEL_CHECK(!values.empty());
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  return std::sqrt(squared_deviations(values, mean(values)) /
                   static_cast<double>(values.size() - 1));
}

double median_absolute_deviation(std::span<const double> values) {
  const double middle = median(values);
  std::vector<double> distances;
  for (double value : values) distances.push_back(std::abs(value - middle));
  return kNormalScale * median(distances);
}

std::optional<double> autocorrelation_lag1(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const double middle = mean(values);
  const double squares = squared_deviations(values, middle);
  if (!(squares > 0.0)) return std::nullopt;
  double products = 0.0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    products += (values[i] - middle) * (values[i - 1] - middle);
  }
  return products / squares;
}

}  // namespace fiel::stats
