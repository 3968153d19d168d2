// How low, or how high, may the candidate's own mean score really be? For floors, which know no reference.
#pragma once

#include <cstdint>
#include <span>

namespace fiel {

struct OwnScores {
  std::span<const double> scores;
  std::span<const std::int64_t> groups;  // one number per sample, or empty
};

struct OwnBound {
  double alpha;
  std::uint64_t seed;
};

/// One-sided bounds at 1 - alpha. Scores that are all 0 or 1, without groups: Clopper & Pearson. Others: the widest of
/// Student's t, the BCa bootstrap, and the mean moved by what so few samples cannot show (stats/real_valued.h). Infinite
/// where nothing can be said.
double own_lower_bound(const OwnScores& own, const OwnBound& bound);
double own_upper_bound(const OwnScores& own, const OwnBound& bound);

bool all_zero_or_one(std::span<const double> scores);
bool has_dependent_samples(std::span<const std::int64_t> groups);

}  // namespace fiel
