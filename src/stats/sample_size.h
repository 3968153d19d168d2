// How many samples would prove non-inferiority, before the first one is judged and afterwards?
//
// Knows the tests of paired_binary.h, no data. Answers are planning figures: with exactly that many
// samples and rates as assumed. Nothing (nullopt) means that no number of samples would do.
#pragma once

#include <cstdint>
#include <optional>

#include "stats/paired_binary.h"

namespace fiel::stats {

/// What is to be proven: the candidate's score lies less than `margin` below the reference's, with
/// an error of at most `alpha`, one-sided.
struct Requirement {
  double margin;
  double alpha;
};

/// Smallest n that proves it when no sample is lost and none is won: (1-m)^n <= alpha and Tango's
/// Z = sqrt(nm/(1-m)) >= z(1-alpha). The first decides at alpha = 5 %: 299, 598, 2995 for margins
/// of 1, 0.5, 0.1 %; the second at 2.5 %: 381 for 1 % (0.99^368 would do). A smaller hold-out can
/// prove nothing, which is said before the search starts.
std::optional<std::int64_t> zero_loss_samples(const Requirement& requirement);

/// The same for real-valued scores of the given range: a loss as wide as the range may be unseen.
std::optional<std::int64_t> zero_loss_samples(const Requirement& requirement, double score_range);

struct PowerPlan {
  Requirement requirement;
  double discordant_share;  // psi: share of samples where only one of the two is right
  double power;             // the chance to succeed that is wanted, 0.8 by custom
  double true_gain = 0.0;   // candidate - reference, as it is believed to be
};

/// n = (z(1-alpha) + z(power))^2 (psi - gain^2) / (margin + gain)^2, and at least the zero-loss n.
/// psi = 2 %, alpha = 5 %, power = 80 %: 1237 for 1 %, 4947 for 0.5 % (6.18 psi/m^2). K slices that
/// must all pass need power 1 - 0.2/K each: for K = 6 at alpha = 2.5 %, 14.4 psi/m^2.
std::optional<std::int64_t> samples_for_power(const PowerPlan& plan);

/// n at which the test would accept if wins and losses kept the observed rates. It then succeeds in
/// about one half of all cases, so plan for more. Nothing where the estimate lies at or below the
/// margin.
std::optional<std::int64_t> samples_to_decide(const PairedCounts& observed,
                                              const Requirement& requirement);

}  // namespace fiel::stats
