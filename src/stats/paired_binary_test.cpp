#include "stats/paired_binary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/distributions.h"

namespace fiel::stats {
namespace {

TEST(PairedBinary, AgreesWithNumericalMaximumLikelihood) {
  EXPECT_NEAR(score_statistic({12, 9, 1000}, -0.01), 2.55902991673, 1e-6);
  EXPECT_NEAR(score_statistic({1, 5, 300}, -0.03), 1.57700626316, 1e-6);
  EXPECT_NEAR(score_statistic({0, 3, 600}, -0.01), 1.23091488899, 1e-6);
  EXPECT_NEAR(score_statistic({7, 0, 400}, -0.01), 3.33333342491, 1e-6);
  EXPECT_NEAR(score_statistic({0, 0, 300}, -0.01), 1.74077653014, 1e-6);
  EXPECT_NEAR(score_statistic({40, 60, 2000}, -0.02), 1.93963385605, 1e-6);
}

TEST(PairedBinary, LowerBoundInvertsTheTest) {
  EXPECT_NEAR(score_lower_bound({12, 9, 1000}, 0.05), -0.00482070812206, 1e-8);
  EXPECT_NEAR(score_lower_bound({1, 5, 300}, 0.05), -0.0309303653402, 1e-8);
  EXPECT_NEAR(score_lower_bound({0, 3, 600}, 0.05), -0.0124441494846, 1e-8);
  EXPECT_NEAR(score_lower_bound({40, 60, 2000}, 0.05), -0.0184243869607, 1e-8);
}

TEST(PairedBinary, WithoutLossesTheStatisticIsThatOfABinomial) {
  const double n = 500, m = 0.02;
  EXPECT_NEAR(score_statistic({0, 0, n}, -m), std::sqrt(n * m / (1 - m)), 1e-9);
}

TEST(PairedBinary, TheBoundAndThePValueDecideAlike) {
  for (double wins : {0.0, 1.0, 5.0, 20.0}) {
    for (double losses : {0.0, 1.0, 4.0, 12.0, 30.0}) {
      for (double n : {50.0, 299.0, 1000.0}) {
        for (double margin : {0.005, 0.01, 0.05}) {
          const PairedCounts counts{wins, losses, n};
          EXPECT_EQ(paired_lower_bound(counts, 0.05) > -margin,
                    non_inferiority_p_value(counts, margin) < 0.05)
              << wins << " " << losses << " " << n << " " << margin;
        }
      }
    }
  }
}

TEST(PairedBinary, WithoutWinsTheExactTestMustAcceptToo) {
  // 268 samples without a loss pass Tango's test at a margin of 1 %, but 0.99^268 = 0.068.
  EXPECT_GT(score_statistic({0, 0, 268}, -0.01), normal_quantile(0.95));
  EXPECT_GT(non_inferiority_p_value({0, 0, 268}, 0.01), 0.05);
  EXPECT_LT(non_inferiority_p_value({0, 0, 299}, 0.01), 0.05);
  EXPECT_NEAR(paired_lower_bound({0, 0, 299}, 0.05), -0.0099691467929, 1e-9);
}

TEST(PairedBinary, BoundsHoldTheEstimateAndTheMirrorImage) {
  for (double wins : {0.0, 3.0, 40.0}) {
    for (double losses : {0.0, 3.0, 40.0}) {
      const PairedCounts counts{wins, losses, 200}, mirror{losses, wins, 200};
      const double estimate = (wins - losses) / 200;
      EXPECT_LE(paired_lower_bound(counts, 0.05), estimate);
      EXPECT_GE(paired_upper_bound(counts, 0.05), estimate);
      EXPECT_DOUBLE_EQ(paired_upper_bound(counts, 0.05), -paired_lower_bound(mirror, 0.05));
      EXPECT_LT(paired_lower_bound(counts, 0.001), paired_lower_bound(counts, 0.05));
    }
  }
}

TEST(PairedBinary, TheBoundFallsWithEachLossAndRisesWithEachWin) {
  for (double count = 0; count < 20; ++count) {
    const PairedCounts one_loss_more{2, count + 1, 100}, losses{2, count, 100};
    EXPECT_LT(paired_lower_bound(one_loss_more, 0.05), paired_lower_bound(losses, 0.05));
    const PairedCounts one_win_more{count + 1, 2, 100}, wins{count, 2, 100};
    EXPECT_GT(paired_lower_bound(one_win_more, 0.05), paired_lower_bound(wins, 0.05));
  }
}

TEST(PairedBinary, OneSampleAndOnlyLossesStayInRange) {
  EXPECT_NEAR(paired_lower_bound({0, 0, 1}, 0.05), -0.95, 1e-9);
  EXPECT_EQ(paired_lower_bound({0, 10, 10}, 0.05), -1.0);
  EXPECT_LE(paired_upper_bound({10, 0, 10}, 0.05), 1.0);
}

}  // namespace
}  // namespace fiel::stats
