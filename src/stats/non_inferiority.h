// Is this candidate's score proven not to lie more than a margin below the reference's?
//
// The one function that the gate asks, and the record it keeps. Knows scores per sample, paired;
// not where they come from, nor slices: each slice is a call of its own. "No significant drop" is
// no acceptance: with little data the answer is kNotProven, and how much data would decide.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "stats/sample_size.h"

namespace fiel::stats {

enum class Direction { kHigherIsBetter, kLowerIsBetter };
enum class Decision { kAccept, kNotProven };

struct PairedScores {
  std::span<const double> reference;
  std::span<const double> candidate;          // same samples, same order
  std::span<const std::int64_t> groups = {};  // one number per sample; empty: independent samples
  Direction direction = Direction::kHigherIsBetter;
  // Largest possible minus smallest possible score. Left out, it is 1 where all scores lie between
  // 0 and 1, else the range that was observed; a given one that is smaller than that is not
  // believed.
  std::optional<double> score_range = {};
  std::uint64_t seed = 0;  // of the bootstrap
};

/// All in units of the score and turned so that positive means: the candidate is better.
struct NonInferiority {
  Decision decision = Decision::kNotProven;
  double estimate;  // mean gain over the reference; NaN without samples or with a score not finite
  double lower_bound;  // of the gain, at 1 - alpha; accepted where it lies above -margin
  std::int64_t samples;
  std::int64_t units;  // groups, or samples where there are none
  std::int64_t wins;   // samples where the candidate is better
  std::int64_t losses;
  std::string method;
  // Samples (groups, where there are groups) that would decide at the observed rates; plan for
  // more.
  std::optional<std::int64_t> units_to_decide;
};

/// Scores that are all 0 or 1, without groups, are judged by paired_binary.h, others by
/// real_valued.h. Groups of one sample each are no groups.
NonInferiority non_inferiority(const PairedScores& scores, const Requirement& requirement);

/// One-sided upper bound of the gain at 1 - alpha.
double gain_upper_bound(const PairedScores& scores, double alpha);

/// The error of an early rejection at one rung (64, 256, 1024 samples). Looks that can only reject
/// cost nothing of the acceptance's alpha.
inline constexpr double kEarlyRejectionAlpha = 0.001;

/// True where the 99.9 % upper bound of the gain lies below -margin, or is no number.
bool clearly_inferior(const PairedScores& scores, double margin);

}  // namespace fiel::stats
