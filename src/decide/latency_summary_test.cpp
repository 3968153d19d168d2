#include <gtest/gtest.h>

#include "decide/rounds.h"

namespace fiel {
namespace {

std::vector<double> up_to(int count) {
  std::vector<double> latencies;
  for (int i = count; i >= 1; --i) latencies.push_back(i);
  return latencies;
}

TEST(LatencySummary, TailsAreAbsentWhereThereAreTooFewTimings) {
  EXPECT_FALSE(latency_summary(up_to(99), 1).contains("p90_seconds"));
  EXPECT_FALSE(latency_summary(up_to(99), 1).contains("p90_at_most_seconds"));
  EXPECT_FALSE(latency_summary(up_to(458), 1).contains("p99_seconds"));
}

TEST(LatencySummary, TailsComeWithTheOrderStatisticThatBoundsThem) {
  const Json summary = latency_summary(up_to(459), 1);
  EXPECT_EQ(summary["count"], 459);
  EXPECT_NEAR(summary["p90_seconds"].get<double>(), 413.2, 1e-9);
  EXPECT_GT(summary["p90_at_most_seconds"].get<double>(), 420);
  EXPECT_LT(summary["p90_at_most_seconds"].get<double>(), 440);
  EXPECT_EQ(summary["p99_at_most_seconds"], 459);  // with 459 timings only the largest bounds p99 at 99 %
}

}  // namespace
}  // namespace fiel
