#include "stats/non_inferiority.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "stats/distributions.h"
#include "stats/paired_binary.h"
#include "stats/real_valued.h"

namespace fiel::stats {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool all_finite(std::span<const double> scores) {
  return std::all_of(scores.begin(), scores.end(), [](double s) { return std::isfinite(s); });
}

bool all_right_or_wrong(std::span<const double> scores) {
  return std::all_of(scores.begin(), scores.end(), [](double s) { return s == 0.0 || s == 1.0; });
}

bool has_dependent_samples(std::span<const std::int64_t> groups) {
  return std::unordered_set<std::int64_t>(groups.begin(), groups.end()).size() < groups.size();
}

// Everything about the scores that both the lower and the upper bound start from.
struct Gains {
  std::vector<double> gains;
  std::span<const std::int64_t> groups;  // empty unless some samples hang together
  PairedCounts counts{};
  double range = 0.0;
  bool usable = false;
  bool binary = false;
};

double range_of(const PairedScores& scores) {
  double low = scores.reference.front(), high = low;
  for (const auto side : {scores.reference, scores.candidate}) {
    for (double score : side) {
      low = std::min(low, score);
      high = std::max(high, score);
    }
  }
  if (scores.score_range) return std::max(*scores.score_range, high - low);
  return low >= 0.0 && high <= 1.0 ? 1.0 : high - low;
}

Gains gains_of(const PairedScores& scores) {
  FIEL_CHECK(scores.reference.size() == scores.candidate.size());
  FIEL_CHECK(scores.groups.empty() || scores.groups.size() == scores.reference.size());
  Gains result;
  result.counts.samples = static_cast<double>(scores.reference.size());
  result.usable =
      !scores.reference.empty() && all_finite(scores.reference) && all_finite(scores.candidate);
  if (!result.usable) return result;
  const double sign = scores.direction == Direction::kHigherIsBetter ? 1.0 : -1.0;
  for (std::size_t sample = 0; sample < scores.reference.size(); ++sample) {
    const double gain = sign * (scores.candidate[sample] - scores.reference[sample]);
    result.gains.push_back(gain);
    if (gain > 0.0) result.counts.wins += 1.0;
    if (gain < 0.0) result.counts.losses += 1.0;
  }
  if (has_dependent_samples(scores.groups)) result.groups = scores.groups;
  result.binary = result.groups.empty() && all_right_or_wrong(scores.reference) &&
                  all_right_or_wrong(scores.candidate);
  result.range = range_of(scores);
  return result;
}

// At the observed mean and spread: the larger of what the normal approximation and the unseen loss
// ask for.
std::optional<std::int64_t> real_units_to_decide(const UnitSums& units,
                                                 const Requirement& requirement, double range) {
  const double distance = requirement.margin + units.mean;
  const double unseen = requirement.margin + std::min(units.mean, 0.0);
  if (!(distance > 0.0) || units.sums.size() < 2 || !(range > 0.0)) return std::nullopt;
  const auto least = zero_loss_samples({unseen, requirement.alpha}, range);
  if (!least) return std::nullopt;
  const auto count = static_cast<double>(units.sums.size());
  const double error = (units.mean - t_lower_bound(units, requirement.alpha)) /
                       student_t_quantile(1.0 - requirement.alpha, count - 1.0) * std::sqrt(count);
  const double root = normal_quantile(1.0 - requirement.alpha) * error / distance;
  if (!(root * root < 1e15)) return std::nullopt;
  return std::max(*least, static_cast<std::int64_t>(std::ceil(root * root)));
}

void judge_binary(NonInferiority& result, const Gains& gains, const Requirement& requirement) {
  result.estimate = (gains.counts.wins - gains.counts.losses) / gains.counts.samples;
  result.lower_bound = paired_lower_bound(gains.counts, requirement.alpha);
  result.method = gains.counts.wins > 0.0 ? "paired score test (Tango)"
                                          : "paired score test (Tango) and exact binomial test";
  result.units_to_decide = samples_to_decide(gains.counts, requirement);
}

void judge_real(NonInferiority& result, const Gains& gains, const Requirement& requirement,
                std::uint64_t seed) {
  const auto units = sum_units(gains.gains, gains.groups);
  result.units = static_cast<std::int64_t>(units.sums.size());
  result.estimate = units.mean;
  // Equal scores on both sides everywhere and no range given: nothing says how much can be lost.
  result.lower_bound = gains.range > 0.0
                           ? mean_lower_bound(units, {requirement.alpha, gains.range}, seed)
                           : -kInfinity;
  result.method = "paired t and BCa bootstrap";
  if (!gains.groups.empty()) result.method += " over groups";
  result.units_to_decide = real_units_to_decide(units, requirement, gains.range);
}

}  // namespace

NonInferiority non_inferiority(const PairedScores& scores, const Requirement& requirement) {
  FIEL_CHECK(requirement.alpha > 0.0 && requirement.alpha < 1.0);
  const Gains gains = gains_of(scores);
  NonInferiority result{.estimate = kUnknown,
                        .lower_bound = -kInfinity,
                        .samples = static_cast<std::int64_t>(scores.reference.size()),
                        .units = static_cast<std::int64_t>(scores.reference.size()),
                        .wins = static_cast<std::int64_t>(gains.counts.wins),
                        .losses = static_cast<std::int64_t>(gains.counts.losses),
                        .method = "none: no samples, or a score that is not finite",
                        .units_to_decide = {}};
  if (!gains.usable) return result;
  if (gains.binary) {
    judge_binary(result, gains, requirement);
  } else {
    judge_real(result, gains, requirement, scores.seed);
  }
  if (result.lower_bound > -requirement.margin) result.decision = Decision::kAccept;
  return result;
}

double gain_upper_bound(const PairedScores& scores, double alpha) {
  const Gains gains = gains_of(scores);
  if (!gains.usable) return kUnknown;
  if (gains.binary) return paired_upper_bound(gains.counts, alpha);
  if (!(gains.range > 0.0)) return kInfinity;
  return mean_upper_bound(sum_units(gains.gains, gains.groups), {alpha, gains.range}, scores.seed);
}

bool clearly_inferior(const PairedScores& scores, double margin) {
  return !(gain_upper_bound(scores, kEarlyRejectionAlpha) >= -margin);
}

}  // namespace fiel::stats
