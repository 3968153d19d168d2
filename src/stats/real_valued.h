// How far below the reference may the candidate's mean score lie, where scores are real numbers and
// samples may hang together in groups?
//
// Knows differences only: candidate - reference, larger is better. The unit is the group (a
// speaker, a document) or, without groups, the sample: a group is resampled whole and counts once.
// Three bounds, the lowest of which holds: Student's t, the BCa bootstrap, and a floor for what so
// few units cannot show. Methodology D1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fiel::stats {

/// Differences summed per unit; the mean over all samples is sum(sums) / sum(counts).
struct UnitSums {
  std::vector<double> sums;
  std::vector<double> counts;
  double mean = 0.0;
};

/// `groups` is empty (each sample is a unit) or holds one group number per sample.
UnitSums sum_units(std::span<const double> differences, std::span<const std::int64_t> groups);

/// mean - t(1-alpha, G-1) * s, with the squared standard error of a ratio of sums,
/// s^2 = G/(G-1) * sum_g (sum over g of (d - mean))^2 / n^2 (Cochran 1977, 6.3): for single samples
/// the textbook's variance over n. Needs two units.
double t_lower_bound(const UnitSums& units, double alpha);

inline constexpr std::int64_t kBootstrapResamples = 10'000;

struct Bootstrap {
  double alpha;
  std::uint64_t seed;
};

/// Bias-corrected and accelerated bootstrap (Efron 1987, JASA 82:171-185): the resampled means'
/// quantile at Phi(z0 + (z0+z)/(1 - a(z0+z))), z = z(alpha), z0 from the share of means below the
/// estimate (ties count half), a from the jackknife over units. 10,000 resamples, more where alpha
/// is so small that ten of them would not lie below the bound.
double bca_lower_bound(const UnitSums& units, const Bootstrap& bootstrap);

struct UnseenLoss {
  double alpha;
  double score_range;  // how much one sample can lose
};

/// A loss of the whole range that hits a share p of the units stays unseen in G units with
/// probability (1-p)^G; so p up to 1 - alpha^(1/G) is not refuted. This is that p times the range:
/// G = 299, alpha = 0.05, range 1: 0.009969. Without it, equal differences would give a bound of
/// zero width.
double unseen_loss(const UnitSums& units, const UnseenLoss& unseen);

/// The lowest of t, BCa and min(mean, 0) - unseen_loss: a gain makes up for nothing unseen. With
/// fewer than two units, minus the range. `seed` is the bootstrap's.
double mean_lower_bound(const UnitSums& units, const UnseenLoss& unseen, std::uint64_t seed);

/// The highest of t, BCa and mean + unseen_loss (unseen gains, here). With fewer than two units,
/// the range.
double mean_upper_bound(const UnitSums& units, const UnseenLoss& unseen, std::uint64_t seed);

}  // namespace fiel::stats
