#include "stats/e_process.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fiel::stats {
namespace {

PairTest after(double alpha, int wins, int losses) {
  PairTest test(alpha);
  for (int i = 0; i < losses; ++i) test.add_session(false);
  for (int i = 0; i < wins; ++i) test.add_session(true);
  return test;
}

TEST(EProcess, AgreesWithTheIntegralOverWinChances) {
  EXPECT_NEAR(log_e_value({7, 7}), 3.46182200348, 1e-10);
  EXPECT_NEAR(log_e_value({8, 8}), 4.03914501287, 1e-10);
  EXPECT_NEAR(log_e_value({9, 11}), 1.80605079934, 1e-10);
  EXPECT_NEAR(log_e_value({10, 20}), -1.30837014113, 1e-10);
  EXPECT_NEAR(log_e_value({27, 35}), 4.39514868824, 1e-10);
  EXPECT_NEAR(std::exp(log_e_value({7, 7})), 31.875, 1e-9);
  EXPECT_NEAR(log_e_value({0, 0}), 0.0, 1e-12);
}

TEST(EProcess, IsAMartingaleUnderAFairCoin) {
  for (std::int64_t all : {0, 1, 5, 12, 40}) {
    for (std::int64_t won = 0; won <= all; ++won) {
      const double next = 0.5 * std::exp(log_e_value({won, all + 1})) +
                          0.5 * std::exp(log_e_value({won + 1, all + 1}));
      const double now = std::exp(log_e_value({won, all}));
      EXPECT_NEAR(next / now, 1.0, 1e-10) << won << " of " << all;
    }
  }
}

TEST(EProcess, SevenOfSevenConfirmAtFivePercentAndEightOfEightAtHalfOfIt) {
  EXPECT_FALSE(after(0.05, 6, 0).confirmed());
  EXPECT_TRUE(after(0.05, 7, 0).confirmed());
  EXPECT_FALSE(after(0.025, 7, 0).confirmed());
  EXPECT_TRUE(after(0.025, 8, 0).confirmed());
  EXPECT_EQ(fewest_sessions_to_confirm(0.05), 7);
  EXPECT_EQ(fewest_sessions_to_confirm(0.025), 8);
}

TEST(EProcess, ALaterLossDoesNotTakeAConfirmationBack) {
  auto test = after(0.05, 7, 0);
  test.add_session(false);
  EXPECT_LT(test.log_e(), std::log(20.0));
  EXPECT_TRUE(test.confirmed());
  EXPECT_EQ(test.fewest_further_sessions(), 0);
}

TEST(EProcess, SaysWhetherTheCapCanStillBeMet) {
  EXPECT_TRUE(after(0.025, 0, 0).can_confirm_within(8));
  EXPECT_FALSE(after(0.025, 0, 0).can_confirm_within(7));
  EXPECT_TRUE(after(0.025, 8, 0).can_confirm_within(8));
  auto test = after(0.025, 3, 4);
  const auto further = test.fewest_further_sessions();
  EXPECT_FALSE(test.can_confirm_within(7 + further - 1));
  EXPECT_TRUE(test.can_confirm_within(7 + further));
  for (std::int64_t i = 0; i < further; ++i) {
    EXPECT_FALSE(test.confirmed());
    test.add_session(true);
  }
  EXPECT_TRUE(test.confirmed());
}

TEST(EProcess, TiesAndNaNLose) {
  EXPECT_FALSE(session_is_won(std::log1p(0.01), 0.01));
  EXPECT_FALSE(session_is_won(std::nan(""), 0.01));
  EXPECT_TRUE(session_is_won(0.01, 0.01));  // ln 1.01 = 0.00995
  EXPECT_FALSE(session_is_won(0.0, 0.0));
}

TEST(EProcess, HopelessCasesStayNumbers) {
  PairTest test(0.05);
  for (int i = 0; i < 500; ++i) test.add_session(false);
  EXPECT_TRUE(std::isfinite(test.log_e()));
  EXPECT_FALSE(test.can_confirm_within(600));
}

}  // namespace
}  // namespace fiel::stats
