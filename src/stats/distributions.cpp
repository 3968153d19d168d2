#include "stats/distributions.h"

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>

namespace fiel::stats {
namespace {

namespace policies = boost::math::policies;

// Errors become NaN or infinity instead of exceptions; long double would cost three times as much
// for digits that no decision reads.
using Quiet = policies::policy<
    policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
    policies::overflow_error<policies::ignore_error>,
    policies::underflow_error<policies::ignore_error>,
    policies::denorm_error<policies::ignore_error>,
    policies::evaluation_error<policies::ignore_error>,
    policies::indeterminate_result_error<policies::ignore_error>, policies::promote_double<false>>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool inside_unit_interval(double p) { return p > 0.0 && p < 1.0; }

}  // namespace

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double normal_quantile(double p) {
  if (!inside_unit_interval(p)) return kNaN;
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2.0 * p, Quiet());
}

double student_t_quantile(double p, double degrees_of_freedom) {
  if (!inside_unit_interval(p) || !(degrees_of_freedom > 0.0)) return kNaN;
  return boost::math::quantile(
      boost::math::students_t_distribution<double, Quiet>(degrees_of_freedom), p);
}

double binomial_cdf(double successes, double trials, double p) {
  if (!(trials >= 0.0) || !(p >= 0.0 && p <= 1.0) || std::isnan(successes)) return kNaN;
  if (successes < 0.0) return 0.0;
  if (successes >= trials) return 1.0;
  return boost::math::ibeta(trials - successes, successes + 1.0, 1.0 - p, Quiet());
}

double clopper_pearson_upper(double successes, double trials, double alpha) {
  if (!(trials > 0.0) || !(successes >= 0.0) || !inside_unit_interval(alpha)) return kNaN;
  if (successes >= trials) return 1.0;
  return boost::math::ibeta_inv(successes + 1.0, trials - successes, 1.0 - alpha, Quiet());
}

double clopper_pearson_lower(double successes, double trials, double alpha) {
  return 1.0 - clopper_pearson_upper(trials - successes, trials, alpha);
}

double log_beta(double a, double b) {
  return boost::math::lgamma(a, Quiet()) + boost::math::lgamma(b, Quiet()) -
         boost::math::lgamma(a + b, Quiet());
}

}  // namespace fiel::stats
