// Is the candidate's share of right answers proven not to lie more than a margin below the
// reference's, where each sample is right or wrong for both?
//
// Knows counts only, not who was right where. Two tests, and both must accept where no sample was
// won: Tango's score test (its size is 4.0-4.6 % at a nominal 5 %, but reaches 6.8 % at small n
// without wins) and the exact binomial test of the losses. Methodology D1.
#pragma once

#include <cstdint>

namespace fiel::stats {

/// Counts of paired samples. Doubles, because planning scales observed counts; tests pass integers.
struct PairedCounts {
  double wins;     // only the candidate is right (b)
  double losses;   // only the reference is right (c)
  double samples;  // all, those where both agree included (n)
};

/// Tango (1998), Statistics in Medicine 17:891-908. With l = difference, A = 2n,
/// B = -b-c+(2n-b+c)l, C = -c l(1-l), q = (-B + sqrt(B^2-4AC)) / 2A:
/// Z = (b-c-nl) / sqrt(n(2q + l(1-l))); large Z speaks for a true difference above l.
/// b = 12, c = 9, n = 1000, l = -0.01: Z = 2.559030.
double score_statistic(const PairedCounts& counts, double difference);

/// The l at which Z equals the normal quantile of 1-alpha, by bisection: every smaller difference
/// is refuted. b = 12, c = 9, n = 1000, alpha = 0.05: -0.004820708.
double score_lower_bound(const PairedCounts& counts, double alpha);

/// One-sided p value of "the candidate is worse by the margin or more": of the score test, and with
/// no wins the larger of it and P(Bin(n, margin) <= c).
double non_inferiority_p_value(const PairedCounts& counts, double margin);

/// Lower confidence bound of candidate - reference; with no wins the lower of the score bound and
/// minus the Clopper-Pearson bound of the losses. 0 wins, 0 losses, n = 299, alpha = 0.05:
/// -0.009969147.
double paired_lower_bound(const PairedCounts& counts, double alpha);

/// The mirror image: upper bound of candidate - reference.
double paired_upper_bound(const PairedCounts& counts, double alpha);

}  // namespace fiel::stats
