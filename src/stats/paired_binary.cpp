#include "stats/paired_binary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/result.h"
#include "stats/distributions.h"

namespace fiel::stats {
namespace {

void check(const PairedCounts& counts) {
  FIEL_CHECK(counts.samples > 0.0);
  FIEL_CHECK(counts.wins >= 0.0 && counts.losses >= 0.0);
  FIEL_CHECK(counts.wins + counts.losses <= counts.samples * (1.0 + 1e-12));
}

}  // namespace

double score_statistic(const PairedCounts& counts, double difference) {
  check(counts);
  const double b = counts.wins, c = counts.losses, n = counts.samples, l = difference;
  const double quadratic = 2.0 * n;
  const double linear = -b - c + (2.0 * n - b + c) * l;
  const double constant = -c * l * (1.0 - l);
  const double root = std::sqrt(std::max(0.0, linear * linear - 4.0 * quadratic * constant));
  const double q = (root - linear) / (2.0 * quadratic);
  const double variance = n * (2.0 * q + l * (1.0 - l));
  const double distance = b - c - n * l;
  if (variance > 0.0) return distance / std::sqrt(variance);
  // Nothing varies at this difference: anything else that was observed refutes it.
  if (distance == 0.0) return 0.0;
  return std::copysign(std::numeric_limits<double>::infinity(), distance);
}

double score_lower_bound(const PairedCounts& counts, double alpha) {
  const double critical = normal_quantile(1.0 - alpha);
  const double estimate = (counts.wins - counts.losses) / counts.samples;
  double refuted = -1.0, possible = estimate;
  if (!(score_statistic(counts, refuted) > critical)) return refuted;
  for (int step = 0; step < 60; ++step) {  // 2 / 2^60 is below the spacing of doubles near 1
    const double middle = refuted + (possible - refuted) / 2.0;
    (score_statistic(counts, middle) > critical ? refuted : possible) = middle;
  }
  return refuted;
}

double non_inferiority_p_value(const PairedCounts& counts, double margin) {
  const double score = normal_cdf(-score_statistic(counts, -margin));
  if (counts.wins > 0.0) return score;
  return std::max(score, binomial_cdf(counts.losses, counts.samples, std::min(margin, 1.0)));
}

double paired_lower_bound(const PairedCounts& counts, double alpha) {
  const double score = score_lower_bound(counts, alpha);
  if (counts.wins > 0.0) return score;
  return std::min(score, -clopper_pearson_upper(counts.losses, counts.samples, alpha));
}

double paired_upper_bound(const PairedCounts& counts, double alpha) {
  return -paired_lower_bound(
      {.wins = counts.losses, .losses = counts.wins, .samples = counts.samples}, alpha);
}

}  // namespace fiel::stats
