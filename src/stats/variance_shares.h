// On which factors, and on which pairs of them, does a value hang? Shares of variance by functional ANOVA of a model that is
// fitted to what was tried; and how much of what was tried that model can't foretell.
//
// The model is additive with pairwise terms: a Gaussian process with the kernel
//   sum_k w_k z_k + rho sum_{k<l} w_k w_l z_k z_l,   z_k(a, b) = 1 where a = b, else -1/(levels - 1),
// which is regularised least squares on centred one-hot levels. Each z_k has mean 0 over equally likely levels, so the fit
// falls apart into functions of one and of two factors that are orthogonal without further work: the ANOVA kernel of
// Durrande, Ginsbourger, Roustant & Carraro, "ANOVA kernels and RKHS of zero mean functions for model-based sensitivity
// analysis", J. Multivariate Analysis 115 (2013); a share is a Sobol index of first order, or of a pair. Weights and noise
// maximise the likelihood by multiplicative steps (Zhou, Hu, Qiao, Zhou, "MM algorithms for variance components models",
// J. Comput. Graph. Statist. 28 (2019)).
//
// The rows may come from any search: shares speak of levels that are all equally likely, not of where the search went.
// Worked by hand: y = A + B/2 with A and B at +1 and -1 has variances 1 and 1/4, so shares of 80 % and 20 %.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fiel::stats {

/// A level for each factor, from 0 on.
using FactorRow = std::vector<std::uint16_t>;

struct FactorShare {
  double share = 0;             // of the fitted variance
  std::vector<double> effects;  // per level, in units of the value; their mean is 0
};

struct PairShare {
  std::size_t first = 0, second = 0;  // factors
  double share = 0;
};

struct VarianceShares {
  std::vector<FactorShare> factors;  // all of them, in the order of `levels`
  std::vector<PairShare> pairs;      // all of them, greatest first; with `factors` the shares add up to 1
  /// 1 - (squared error) / (variance) on rows that the model had not seen, by five-fold cross-validation with the weights
  /// learned anew each time; below 0 it is worse than the mean.
  double foretold = 0;
};

/// Fewer rows than this say nothing of several factors and their pairs.
inline constexpr std::size_t kFewestRows = 20;

/// Nothing where there are too few rows, no factor has two levels, or all values are the same. Rows are taken in an order
/// that means nothing (fold i has each fifth). Values must be finite.
std::optional<VarianceShares> variance_shares(std::span<const std::size_t> levels, std::span<const FactorRow> rows,
                                              std::span<const double> values);

}  // namespace fiel::stats
