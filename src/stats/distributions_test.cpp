#include "stats/distributions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fiel::stats {
namespace {

TEST(Distributions, AgreeWithScipy) {
  EXPECT_NEAR(normal_quantile(0.95), 1.64485362695, 1e-10);
  EXPECT_NEAR(normal_quantile(0.999), 3.09023230617, 1e-10);
  EXPECT_NEAR(normal_quantile(1e-10), -6.3613409024, 1e-9);
  EXPECT_NEAR(student_t_quantile(0.95, 9), 1.83311293266, 1e-10);
  EXPECT_NEAR(student_t_quantile(0.999, 63), 3.22470873855, 1e-9);
  EXPECT_NEAR(binomial_cdf(3, 1000, 0.01), 0.010072654772, 1e-12);
  EXPECT_NEAR(clopper_pearson_upper(0, 299, 0.05), 0.0099691467929, 1e-12);
  EXPECT_NEAR(clopper_pearson_upper(3, 1000, 0.05), 0.00773524471848, 1e-12);
  EXPECT_NEAR(clopper_pearson_lower(5, 100, 0.05), 0.0199055636622, 1e-12);
  EXPECT_NEAR(log_beta(40, 60), -67.9686162475, 1e-9);
}

TEST(Distributions, NormalCdfUndoesItsQuantile) {
  for (double p : {1e-6, 0.01, 0.3, 0.5, 0.975})
    EXPECT_NEAR(normal_cdf(normal_quantile(p)), p, 1e-12);
}

TEST(Distributions, BinomialCdfIsASumOfTermsAndEndsAtZeroAndOne) {
  EXPECT_NEAR(binomial_cdf(1, 10, 0.5), 11.0 / 1024, 1e-15);
  EXPECT_EQ(binomial_cdf(-1, 10, 0.5), 0.0);
  EXPECT_EQ(binomial_cdf(10, 10, 0.5), 1.0);
  EXPECT_EQ(binomial_cdf(0, 10, 0.0), 1.0);
  EXPECT_EQ(binomial_cdf(9, 10, 1.0), 0.0);
}

TEST(Distributions, OutsideTheDomainIsNaNNotAnException) {
  EXPECT_TRUE(std::isnan(normal_quantile(0.0)));
  EXPECT_TRUE(std::isnan(normal_quantile(std::nan(""))));
  EXPECT_TRUE(std::isnan(student_t_quantile(0.95, 0)));
  EXPECT_TRUE(std::isnan(binomial_cdf(1, 10, 1.5)));
  EXPECT_TRUE(std::isnan(clopper_pearson_upper(1, 10, 0.0)));
}

TEST(Distributions, ClopperPearsonEndsAtZeroAndOne) {
  EXPECT_EQ(clopper_pearson_upper(10, 10, 0.05), 1.0);
  EXPECT_EQ(clopper_pearson_lower(0, 10, 0.05), 0.0);
}

}  // namespace
}  // namespace fiel::stats
