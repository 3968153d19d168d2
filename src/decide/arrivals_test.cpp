#include "decide/arrivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace fiel {
namespace {

using ::testing::HasSubstr;

TEST(Arrivals, ComeAtTheRateWithExponentialGaps) {
  const auto arrivals = poisson_arrivals({.per_second = 50, .count = 100'000, .seed = 3});
  EXPECT_NEAR(arrivals.back() / 100'000, 0.02, 0.0003);
  double long_gaps = 0, squares = 0, before = 0;
  for (const double at : arrivals) {
    const double gap = (at - before) * 50;
    before = at;
    long_gaps += gap > 1 ? 1 : 0;
    squares += gap * gap;
  }
  EXPECT_NEAR(long_gaps / 100'000, std::exp(-1), 0.006);
  EXPECT_NEAR(squares / 100'000, 2, 0.06);  // second moment of a unit exponential
}

TEST(Arrivals, DependOnTheSeedAlone) {
  const ArrivalPlan plan{.per_second = 50, .count = 20, .seed = 3};
  ArrivalPlan other = plan;
  other.seed = 4;
  EXPECT_EQ(poisson_arrivals(plan), poisson_arrivals(plan));
  EXPECT_NE(poisson_arrivals(plan), poisson_arrivals(other));
}

// 100 requests, one each second.
std::vector<double> every_second() {
  std::vector<double> arrivals;
  for (int i = 1; i <= 100; ++i) arrivals.push_back(i);
  return arrivals;
}

TEST(Arrivals, AWorkerThatAnswersInTimeKeptUp) {
  const auto arrivals = every_second();
  const std::vector<double> quick(100, 0.5), slow_but_many(100, 16.5);
  EXPECT_EQ(why_overloaded({.arrivals_seconds = arrivals, .latencies_seconds = quick}), "");
  EXPECT_EQ(why_overloaded({.arrivals_seconds = arrivals, .latencies_seconds = slow_but_many}), "");  // 17 unfinished
}

TEST(Arrivals, AGrowingQueueIsSaidWithItsNumbers) {
  const auto arrivals = every_second();
  const std::vector<double> late(100, 17.5);  // 18 unfinished; 17 may be
  EXPECT_EQ(why_overloaded({.arrivals_seconds = arrivals, .latencies_seconds = late}),
            "18 of 100 requests were unfinished when the last one arrived (17 may be), 0.82 finished a second while 1 arrived");
  EXPECT_EQ(why_overloaded({.arrivals_seconds = arrivals, .latencies_seconds = late, .parallel = 2}), "");
}

TEST(Arrivals, RequestsThatWereNeverBegunAreAnOverloadHoweverFewTheyAre) {
  const auto arrivals = every_second();
  const std::vector<double> quick(99, 0.5);
  EXPECT_THAT(why_overloaded({.arrivals_seconds = arrivals, .latencies_seconds = quick}), HasSubstr("1 of 100"));
}

}  // namespace
}  // namespace fiel
