#include "base/cpu_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fiel {
namespace {

TEST(CpuList, TakesSinglesAndRanges) {
  EXPECT_THAT(parse_cpu_list("0").value(), testing::ElementsAre(0));
  EXPECT_THAT(parse_cpu_list("0-2,8").value(), testing::ElementsAre(0, 1, 2, 8));
}

TEST(CpuList, RefusesWhatIsNoList) {
  for (const char* text : {"", "a", "1-", "2-1", "0,,1", "0-1,1", "5000", "-1", "0 "}) {
    EXPECT_FALSE(parse_cpu_list(text)) << text;
  }
}

}  // namespace
}  // namespace fiel
