#include "base/clock.h"

#include <gtest/gtest.h>

namespace fiel {
namespace {

TEST(Clock, TheFakeOneMovesOnlyWhenMoved) {
  FakeClock clock;
  EXPECT_EQ(clock.now_seconds(), 0);
  EXPECT_EQ(clock.utc_now(), "2025-01-01T00:00:00Z");
  clock.advance(86401.5);
  EXPECT_EQ(clock.now_seconds(), 86401.5);
  EXPECT_EQ(clock.utc_now(), "2025-01-02T00:00:01Z");
}

TEST(Clock, TheRealOneNeverGoesBackAndSaysUtcAsIso8601) {
  RealClock clock;
  const double first = clock.now_seconds();
  EXPECT_GE(clock.now_seconds(), first);
  const std::string text = clock.utc_now();
  ASSERT_EQ(text.size(), 20u);
  EXPECT_EQ(text[4], '-');
  EXPECT_EQ(text[10], 'T');
  EXPECT_EQ(text.back(), 'Z');
}

}  // namespace
}  // namespace fiel
