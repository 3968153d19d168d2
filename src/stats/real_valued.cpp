#include "stats/real_valued.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "base/result.h"
#include "base/rng.h"
#include "stats/distributions.h"

namespace fiel::stats {
namespace {

constexpr double kResamplesBelowBound = 10.0;
constexpr double kMostResamples = 200'000.0;

double total(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Draws unit numbers two to one 64-bit number, by multiplying 32 bits: several times as fast as
// Rng::below, which matters for 10,000 resamples of thousands of units. Some units are likelier
// than others by at most size / 2^32, far below what resampling can show.
class UnitDraws {
 public:
  UnitDraws(std::size_t size, std::uint64_t seed) : size_(size), rng_(seed) {}

  std::size_t next() {
    if (!has_half_) bits_ = rng_.next();
    const std::uint64_t half = has_half_ ? bits_ & 0xffffffffu : bits_ >> 32;
    has_half_ = !has_half_;
    return static_cast<std::size_t>((half * size_) >> 32);
  }

 private:
  std::uint64_t size_;
  Rng rng_;
  std::uint64_t bits_ = 0;
  bool has_half_ = false;
};

std::vector<double> resampled_means(const UnitSums& units, std::int64_t resamples,
                                    std::uint64_t seed) {
  const std::size_t size = units.sums.size();
  const bool are_samples = total(units.counts) == static_cast<double>(size);
  UnitDraws draws(size, seed);
  std::vector<double> means(static_cast<std::size_t>(resamples));
  for (double& mean : means) {
    double sum = 0.0, count = are_samples ? static_cast<double>(size) : 0.0;
    for (std::size_t drawn = 0; drawn < size; ++drawn) {
      const std::size_t unit = draws.next();
      sum += units.sums[unit];
      if (!are_samples) count += units.counts[unit];
    }
    mean = sum / count;
  }
  return means;
}

// Share of the resampled means below the estimate, as a normal quantile. Sums of the same numbers
// in another order differ in their last bits, so ties are recognised within a rounding error.
double median_bias(std::span<const double> means, double estimate) {
  double scale = std::abs(estimate);
  for (double mean : means) scale = std::max(scale, std::abs(mean));
  double below = 0.0;
  for (double mean : means) {
    if (std::abs(mean - estimate) <= 1e-12 * scale) {
      below += 0.5;
    } else if (mean < estimate) {
      below += 1.0;
    }
  }
  const auto count = static_cast<double>(means.size());
  return normal_quantile(std::clamp(below, 0.5, count - 0.5) / count);
}

double acceleration(const UnitSums& units) {
  const double sum = total(units.sums), count = total(units.counts);
  std::vector<double> left_out(units.sums.size());
  for (std::size_t unit = 0; unit < left_out.size(); ++unit) {
    left_out[unit] = (sum - units.sums[unit]) / (count - units.counts[unit]);
  }
  const double middle = total(left_out) / static_cast<double>(left_out.size());
  double squares = 0.0, cubes = 0.0;
  for (double mean : left_out) {
    const double distance = middle - mean;
    squares += distance * distance;
    cubes += distance * distance * distance;
  }
  if (!(squares > 0.0)) return 0.0;
  return cubes / (6.0 * std::pow(squares, 1.5));
}

double sampling_lower_bound(const UnitSums& units, double alpha, std::uint64_t seed) {
  return std::min(t_lower_bound(units, alpha),
                  bca_lower_bound(units, {.alpha = alpha, .seed = seed}));
}

UnitSums negated(UnitSums units) {
  for (double& sum : units.sums) sum = -sum;
  units.mean = -units.mean;
  return units;
}

}  // namespace

UnitSums sum_units(std::span<const double> differences, std::span<const std::int64_t> groups) {
  FIEL_CHECK(groups.empty() || groups.size() == differences.size());
  UnitSums units;
  if (groups.empty()) {
    units.sums.assign(differences.begin(), differences.end());
    units.counts.assign(differences.size(), 1.0);
  } else {
    std::unordered_map<std::int64_t, std::size_t> unit_of_group;
    for (std::size_t sample = 0; sample < differences.size(); ++sample) {
      const auto [found, is_new] = unit_of_group.emplace(groups[sample], units.sums.size());
      if (is_new) {
        units.sums.push_back(0.0);
        units.counts.push_back(0.0);
      }
      units.sums[found->second] += differences[sample];
      units.counts[found->second] += 1.0;
    }
  }
  units.mean = total(units.sums) / total(units.counts);
  return units;
}

double t_lower_bound(const UnitSums& units, double alpha) {
  FIEL_CHECK(units.sums.size() >= 2);
  const auto count = static_cast<double>(units.sums.size());
  double squares = 0.0;
  for (std::size_t unit = 0; unit < units.sums.size(); ++unit) {
    const double deviation = units.sums[unit] - units.mean * units.counts[unit];
    squares += deviation * deviation;
  }
  const double error = std::sqrt(count / (count - 1.0) * squares) / total(units.counts);
  return units.mean - student_t_quantile(1.0 - alpha, count - 1.0) * error;
}

double bca_lower_bound(const UnitSums& units, const Bootstrap& bootstrap) {
  FIEL_CHECK(units.sums.size() >= 2);
  FIEL_CHECK(bootstrap.alpha > 0.0 && bootstrap.alpha < 1.0);
  const double wanted = std::min(kResamplesBelowBound / bootstrap.alpha, kMostResamples);
  const auto resamples =
      std::max(kBootstrapResamples, static_cast<std::int64_t>(std::ceil(wanted)));
  auto means = resampled_means(units, resamples, bootstrap.seed);
  const double bias = median_bias(means, units.mean);
  const double shifted = bias + normal_quantile(bootstrap.alpha);
  const double stretch = 1.0 - acceleration(units) * shifted;
  // A stretch of zero or less puts the quantile beyond every resampled mean.
  const double share = stretch > 0.0 ? normal_cdf(bias + shifted / stretch) : 0.0;
  const double rank = std::floor(share * static_cast<double>(resamples + 1));
  const auto index =
      static_cast<std::ptrdiff_t>(std::clamp(rank - 1.0, 0.0, static_cast<double>(resamples - 1)));
  std::nth_element(means.begin(), means.begin() + index, means.end());
  return means[static_cast<std::size_t>(index)];
}

double unseen_loss(const UnitSums& units, const UnseenLoss& unseen) {
  const auto count = static_cast<double>(units.sums.size());
  return -std::expm1(std::log(unseen.alpha) / count) * unseen.score_range;
}

double mean_lower_bound(const UnitSums& units, const UnseenLoss& unseen, std::uint64_t seed) {
  if (units.sums.size() < 2) return -unseen.score_range;
  return std::min(sampling_lower_bound(units, unseen.alpha, seed),
                  std::min(units.mean, 0.0) - unseen_loss(units, unseen));
}

double mean_upper_bound(const UnitSums& units, const UnseenLoss& unseen, std::uint64_t seed) {
  if (units.sums.size() < 2) return unseen.score_range;
  return std::max(-sampling_lower_bound(negated(units), unseen.alpha, seed),
                  units.mean + unseen_loss(units, unseen));
}

}  // namespace fiel::stats
