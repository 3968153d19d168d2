// Which probabilities and quantiles does the rest of this room need?
//
// Knows no test and no data; the one place where Boost.Math is used, so that its headers are read
// by one compiler run. No function throws: outside its domain it gives NaN, and our comparisons are
// written so that NaN fails. Reference values in the test come from scipy (reference.py).
#pragma once

#include <cstdint>

namespace fiel::stats {

/// P(Z <= z). normal_cdf(1.644853627) = 0.95.
double normal_cdf(double z);

/// z with P(Z <= z) = p. normal_quantile(0.95) = 1.644853627.
double normal_quantile(double p);

/// t with P(T <= t) = p. student_t_quantile(0.95, 9) = 1.833112933.
double student_t_quantile(double p, double degrees_of_freedom);

/// P(Bin(trials, p) <= successes) = I(1-p; trials-successes, successes+1), the regularised
/// incomplete beta function (Abramowitz & Stegun 26.5.24). Fractional counts are allowed: planning
/// scales observed ones. binomial_cdf(1, 10, 0.5) = 11/1024.
double binomial_cdf(double successes, double trials, double p);

/// The largest p that `successes` of `trials` cannot refute at alpha, one-sided (Clopper & Pearson
/// 1934): I^-1(1-alpha; successes+1, trials-successes). For 0 of n it is 1 - alpha^(1/n):
/// clopper_pearson_upper(0, 299, 0.05) = 0.009969138.
double clopper_pearson_upper(double successes, double trials, double alpha);

/// The smallest such p. clopper_pearson_lower(5, 100, 0.05) = 0.019905564.
double clopper_pearson_lower(double successes, double trials, double alpha);

/// ln B(a, b) by log-gamma. log_beta(8, 1) = -ln 8.
double log_beta(double a, double b);

}  // namespace fiel::stats
