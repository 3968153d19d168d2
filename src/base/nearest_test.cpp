#include "base/nearest.h"

#include <gtest/gtest.h>

namespace fiel {
namespace {

const std::vector<std::string> kKeys{"wall", "executions", "latency_p99", "latency_p90"};

TEST(Nearest, FindsWhatAMistypedWordMeant) {
  EXPECT_EQ(nearest("wal", kKeys), "wall");
  EXPECT_EQ(nearest("exectuions", kKeys), "executions");
  EXPECT_EQ(nearest("Latency_P99", kKeys), "latency_p99");
  EXPECT_EQ(nearest("latency_p95", kKeys), "latency_p99");  // the first of equals
}

TEST(Nearest, SaysNothingWhereNothingIsNear) {
  EXPECT_FALSE(nearest("colour", kKeys));
  EXPECT_FALSE(nearest("", kKeys));
  EXPECT_FALSE(nearest("ab", {"cd"}));
  EXPECT_FALSE(nearest(std::string(100'000, 'a'), kKeys));
  EXPECT_EQ(did_you_mean("colour", {"a", "b"}), "known are: a, b");
  EXPECT_EQ(did_you_mean("wakl", kKeys), "did you mean 'wall'?");
}

}  // namespace
}  // namespace fiel
