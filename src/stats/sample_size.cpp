#include "stats/sample_size.h"

#include <algorithm>
#include <cmath>

#include "base/result.h"
#include "stats/distributions.h"

namespace fiel::stats {
namespace {

// Beyond this many samples nobody collects data, and doubles no longer count exactly.
constexpr double kMostSamples = 1e15;

bool makes_sense(const Requirement& requirement) {
  FIEL_CHECK(requirement.alpha > 0.0 && requirement.alpha < 1.0);
  return requirement.margin > 0.0;
}

bool accepts(const PairedCounts& counts, const Requirement& requirement) {
  return paired_lower_bound(counts, requirement.alpha) > -requirement.margin;
}

std::optional<std::int64_t> whole(double samples) {
  if (!(samples <= kMostSamples)) return std::nullopt;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(samples)));
}

}  // namespace

std::optional<std::int64_t> zero_loss_samples(const Requirement& requirement) {
  if (!makes_sense(requirement)) return std::nullopt;
  const double margin = std::min(requirement.margin, 1.0);
  const double z = std::max(0.0, normal_quantile(1.0 - requirement.alpha));
  const auto first = whole(
      std::max(std::log(requirement.alpha) / std::log1p(-margin), z * z * (1.0 - margin) / margin));
  if (!first) return std::nullopt;
  // The formulas are exact but for rounding; the test itself has the last word.
  const auto enough = [&](std::int64_t n) {
    return accepts({.wins = 0, .losses = 0, .samples = static_cast<double>(n)}, requirement);
  };
  std::int64_t n = *first;
  while (!enough(n)) ++n;
  while (n > 1 && enough(n - 1)) --n;
  return n;
}

std::optional<std::int64_t> zero_loss_samples(const Requirement& requirement, double score_range) {
  FIEL_CHECK(score_range > 0.0);
  if (!makes_sense(requirement)) return std::nullopt;
  const double share = std::min(requirement.margin / score_range, 1.0);
  const auto n = whole(std::log(requirement.alpha) / std::log1p(-share));
  if (!n) return std::nullopt;
  return std::max<std::int64_t>(2, *n);  // a spread needs two
}

std::optional<std::int64_t> samples_for_power(const PowerPlan& plan) {
  const double distance = plan.requirement.margin + plan.true_gain;
  if (!makes_sense(plan.requirement) || !(distance > 0.0)) return std::nullopt;
  const double z = normal_quantile(1.0 - plan.requirement.alpha) + normal_quantile(plan.power);
  const double variance = std::max(0.0, plan.discordant_share - plan.true_gain * plan.true_gain);
  const auto n = whole(z * z * variance / (distance * distance));
  const auto least = zero_loss_samples(plan.requirement);
  if (!n || !least) return std::nullopt;
  return std::max(*n, *least);
}

std::optional<std::int64_t> samples_to_decide(const PairedCounts& observed,
                                              const Requirement& requirement) {
  if (!makes_sense(requirement)) return std::nullopt;
  const double win_rate = observed.wins / observed.samples;
  const double loss_rate = observed.losses / observed.samples;
  if (!(win_rate - loss_rate > -requirement.margin)) return std::nullopt;
  const auto enough = [&](std::int64_t n) {
    const auto samples = static_cast<double>(n);
    return accepts({.wins = win_rate * samples, .losses = loss_rate * samples, .samples = samples},
                   requirement);
  };
  std::int64_t too_few = 0, high = 1;
  while (!enough(high)) {
    too_few = high;
    high *= 2;
    if (static_cast<double>(high) > kMostSamples) return std::nullopt;
  }
  while (high - too_few > 1) {
    const std::int64_t middle = too_few + (high - too_few) / 2;
    (enough(middle) ? high : too_few) = middle;
  }
  return high;
}

}  // namespace fiel::stats
