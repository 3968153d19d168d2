#include "gate/own_mean.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>
#include <vector>

#include "stats/distributions.h"
#include "stats/real_valued.h"

namespace fiel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double lower_of_real(const OwnScores& own, const OwnBound& bound) {
  const auto [low, high] = std::ranges::minmax(own.scores);
  // As in stats/non_inferiority.h: scores between 0 and 1 could have been anything between 0 and 1.
  const bool is_share = (low >= 0 && high <= 1) || (low >= -1 && high <= 0);
  const double range = is_share ? 1.0 : high - low;
  const auto units = stats::sum_units(own.scores, own.groups);
  if (units.sums.size() < 2 || !(range > 0)) return -kInfinity;
  return std::min({stats::t_lower_bound(units, bound.alpha), stats::bca_lower_bound(units, {bound.alpha, bound.seed}),
                   units.mean - stats::unseen_loss(units, {bound.alpha, range})});
}

bool usable(const OwnScores& own) {
  return !own.scores.empty() && std::ranges::all_of(own.scores, [](double x) { return std::isfinite(x); });
}

bool is_binary(const OwnScores& own) { return all_zero_or_one(own.scores) && !has_dependent_samples(own.groups); }

double sum(std::span<const double> scores) { return std::accumulate(scores.begin(), scores.end(), 0.0); }

}  // namespace

bool all_zero_or_one(std::span<const double> scores) {
  return std::ranges::all_of(scores, [](double x) { return x == 0.0 || x == 1.0; });
}

bool has_dependent_samples(std::span<const std::int64_t> groups) {
  return std::unordered_set<std::int64_t>(groups.begin(), groups.end()).size() < groups.size();
}

double own_lower_bound(const OwnScores& own, const OwnBound& bound) {
  if (!usable(own)) return -kInfinity;
  const auto n = static_cast<double>(own.scores.size());
  if (is_binary(own)) return stats::clopper_pearson_lower(sum(own.scores), n, bound.alpha);
  return lower_of_real(own, bound);
}

double own_upper_bound(const OwnScores& own, const OwnBound& bound) {
  if (!usable(own)) return kInfinity;
  const auto n = static_cast<double>(own.scores.size());
  if (is_binary(own)) return stats::clopper_pearson_upper(sum(own.scores), n, bound.alpha);
  std::vector<double> negated(own.scores.begin(), own.scores.end());
  for (double& x : negated) x = -x;
  return -lower_of_real({negated, own.groups}, bound);
}

}  // namespace fiel
