#include "base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

namespace fiel {
namespace {

TEST(Rng, SplitmixGivesItsPublishedNumbers) {
  std::uint64_t state = 1234567;
  EXPECT_EQ(splitmix64(state), 6457827717110365317u);
  EXPECT_EQ(splitmix64(state), 3203168211198807973u);
  EXPECT_EQ(splitmix64(state), 9817491932198370423u);
}

TEST(Rng, XoshiroGivesItsPublishedNumbers) {
  auto rng = Rng::from_state({1, 2, 3, 4});
  EXPECT_EQ(rng.next(), 11520u);
  EXPECT_EQ(rng.next(), 0u);
  EXPECT_EQ(rng.next(), 1509978240u);
  EXPECT_EQ(rng.next(), 1215971899390074240u);
  EXPECT_EQ(Rng(0).next(), 0x99ec5f36cb75f2b4u);
}

TEST(Rng, UniformLiesInTheUnitIntervalWithMeanOneHalf) {
  Rng rng(1);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = rng.uniform01();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 5 * std::sqrt(1.0 / 12 / 100000));
}

TEST(Rng, BelowIsUniformAndNeverReachesItsBound) {
  Rng rng(2);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70000; ++i) counts.at(static_cast<std::size_t>(rng.below(7)))++;
  for (int count : counts) EXPECT_NEAR(count, 10000, 5 * std::sqrt(70000.0 * 6 / 49));
  EXPECT_EQ(rng.below(1), 0u);
}

TEST(Rng, BelowDrawsAgainWhereTheRangeDoesNotDivide) {
  // For n = 3 * 2^62 a plain remainder would make the lowest quarter of the results twice as
  // likely.
  Rng rng(3);
  const std::uint64_t n = std::uint64_t{3} << 62;
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += rng.below(n) < n / 3 ? 1 : 0;
  EXPECT_NEAR(low, 10000, 5 * std::sqrt(30000.0 * 2 / 9));
}

TEST(Rng, CoinIsFair) {
  Rng rng(4);
  int heads = 0;
  for (int i = 0; i < 100000; ++i) heads += rng.coin() ? 1 : 0;
  EXPECT_NEAR(heads, 50000, 5 * std::sqrt(25000.0));
}

TEST(Rng, NormalAndExponentialHaveTheirMoments) {
  Rng rng(5);
  const int n = 200000;
  double sum = 0, squares = 0, fourths = 0, waits = 0;
  for (int i = 0; i < n; ++i) {
    const double z = rng.normal();
    ASSERT_TRUE(std::isfinite(z));
    sum += z;
    squares += z * z;
    fourths += z * z * z * z;
    waits += rng.exponential();
  }
  EXPECT_NEAR(sum / n, 0.0, 5 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1.0, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(fourths / n, 3.0, 5 * std::sqrt(96.0 / n));
  EXPECT_NEAR(waits / n, 1.0, 5 / std::sqrt(n));
}

TEST(Rng, ShuffleGivesEveryOrderEquallyOften) {
  Rng rng(6);
  std::map<std::vector<int>, int> seen;
  for (int i = 0; i < 24000; ++i) {
    std::vector<int> items{1, 2, 3, 4};
    rng.shuffle(std::span(items));
    seen[items]++;
  }
  EXPECT_EQ(seen.size(), 24u);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 1000, 5 * std::sqrt(1000.0));
}

TEST(Rng, SubSeedsDependOnTheMasterAndOnTheName) {
  EXPECT_EQ(sub_seed(7, "search"), sub_seed(7, "search"));
  EXPECT_NE(sub_seed(7, "search"), sub_seed(7, "order"));
  EXPECT_NE(sub_seed(7, "search"), sub_seed(8, "search"));
  EXPECT_NE(sub_seed(7, ""), 7u);
}

// Old journals replay only as long as these numbers stay what they are.
TEST(Rng, SeedsOfOldJournalsKeepTheirMeaning) {
  EXPECT_EQ(sub_seed(0, "search"), 10859245866107039854u);
  EXPECT_EQ(sub_seed(42, "order"), 10173154908135060223u);
}

}  // namespace
}  // namespace fiel
