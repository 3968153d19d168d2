#include "stats/variance_shares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "base/rng.h"

namespace fiel::stats {
namespace {

using Truth = std::function<double(const FactorRow&)>;

const std::vector<std::size_t> kLevels = {2, 2, 3, 4, 2};

double sign(std::uint16_t level) { return level == 0 ? -1.0 : 1.0; }

// Variances over equally likely levels: factor 0 has 1, factor 1 1/4, factor 2 (at -1, 0, 1 times 1/2) 1/6, the pair of
// factors 0 and 4 has 1/2, and factor 3 nothing: of 23/12 in all.
double truth(const FactorRow& row) {
  return sign(row[0]) + 0.5 * sign(row[1]) + 0.5 * (row[2] - 1.0) + std::sqrt(0.5) * sign(row[0]) * sign(row[4]);
}
constexpr double kAll = 23.0 / 12.0;

struct Sampled {
  std::vector<FactorRow> rows;
  std::vector<double> values;
};

Sampled sampled(std::size_t n, double noise, const Truth& value, const std::function<std::uint16_t(std::size_t, Rng&)>& level) {
  Rng rng(5);
  Sampled sample;
  for (std::size_t i = 0; i < n; ++i) {
    FactorRow row;
    for (std::size_t k = 0; k < kLevels.size(); ++k) row.push_back(level(k, rng));
    sample.values.push_back(value(row) + noise * rng.normal());
    sample.rows.push_back(std::move(row));
  }
  return sample;
}

std::uint16_t any_level(std::size_t factor, Rng& rng) { return static_cast<std::uint16_t>(rng.below(kLevels[factor])); }
// As a search comes back to what was good: in two of three rows or so the last level.
std::uint16_t mostly_the_last(std::size_t factor, Rng& rng) {
  return rng.below(10) < 6 ? static_cast<std::uint16_t>(kLevels[factor] - 1) : any_level(factor, rng);
}

void expect_true_shares(const VarianceShares& shares, double within) {
  EXPECT_NEAR(shares.factors[0].share, 1 / kAll, within);
  EXPECT_NEAR(shares.factors[1].share, 0.25 / kAll, within);
  EXPECT_NEAR(shares.factors[2].share, 1.0 / 6 / kAll, within);
  EXPECT_NEAR(shares.factors[3].share, 0, within);
  EXPECT_NEAR(shares.factors[4].share, 0, within);
  EXPECT_EQ(shares.pairs[0].first, 0u);
  EXPECT_EQ(shares.pairs[0].second, 4u);
  EXPECT_NEAR(shares.pairs[0].share, 0.5 / kAll, within);
  EXPECT_LT(shares.pairs[1].share, within);
}

TEST(VarianceShares, AddUpToOne) {
  const Sampled sample = sampled(60, 0.1, truth, any_level);
  const auto shares = variance_shares(kLevels, sample.rows, sample.values);
  ASSERT_TRUE(shares);
  double sum = 0;
  for (const FactorShare& factor : shares->factors) {
    sum += factor.share;
    EXPECT_NEAR(std::reduce(factor.effects.begin(), factor.effects.end()), 0, 1e-9);
  }
  for (const PairShare& pair : shares->pairs) sum += pair.share;
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(VarianceShares, AreTheTrueOnesOfAKnownSpace) {
  const Sampled sample = sampled(80, 0.05, truth, any_level);
  const auto shares = variance_shares(kLevels, sample.rows, sample.values);
  ASSERT_TRUE(shares);
  expect_true_shares(*shares, 0.03);
  EXPECT_GT(shares->foretold, 0.97);
  EXPECT_NEAR(shares->factors[0].effects[1] - shares->factors[0].effects[0], 2.0, 0.1);
}

TEST(VarianceShares, SpeakOfTheSpaceAndNotOfWhereTheSearchWent) {
  const Sampled sample = sampled(120, 0.05, truth, mostly_the_last);
  const auto shares = variance_shares(kLevels, sample.rows, sample.values);
  ASSERT_TRUE(shares);
  expect_true_shares(*shares, 0.06);
}

TEST(VarianceShares, TellNoiseFromEffects) {
  // A third of all variance is noise: what the model foretells is at most the rest.
  const Sampled noisy = sampled(300, std::sqrt(kAll / 2), truth, any_level);
  const auto shares = variance_shares(kLevels, noisy.rows, noisy.values);
  ASSERT_TRUE(shares);
  EXPECT_NEAR(shares->foretold, 2.0 / 3, 0.08);
  expect_true_shares(*shares, 0.08);
  const Sampled nothing = sampled(60, 1.0, [](const FactorRow&) { return 0.0; }, any_level);
  const auto none = variance_shares(kLevels, nothing.rows, nothing.values);
  ASSERT_TRUE(none);
  EXPECT_LT(none->foretold, 0.2);
}

TEST(VarianceShares, SayNothingFromTooLittle) {
  const Sampled sample = sampled(kFewestRows - 1, 0.1, truth, any_level);
  EXPECT_FALSE(variance_shares(kLevels, sample.rows, sample.values));
  const Sampled more = sampled(kFewestRows, 0.1, truth, any_level);
  EXPECT_TRUE(variance_shares(kLevels, more.rows, more.values));
  EXPECT_FALSE(variance_shares(kLevels, more.rows, std::vector<double>(kFewestRows, 2.0)));
  const std::vector<std::size_t> one_level = {1};
  EXPECT_FALSE(variance_shares(one_level, std::vector<FactorRow>(30, {0}), std::vector<double>(30, 1.0)));
}

}  // namespace
}  // namespace fiel::stats
