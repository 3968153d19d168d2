#include "tune/twins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decide/confirm.h"

namespace fiel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TwinTimes quiet() {
  TwinTimes times;
  times.log_ratios = {0.002, -0.001, 0.004, -0.003, 0.001, -0.002};
  times.sessions = 6;
  times.rounds = 18;
  times.seconds_per_session = 2;
  return times;
}

TEST(Twins, AQuietMachineIsTrusted) {
  const NoiseFloor floor = noise_floor(quiet(), {});
  EXPECT_THAT(floor.distrust, IsEmpty());
  EXPECT_NEAR(floor.deviation.value(), 0.002639, 1e-6);
}

TEST(Twins, AFalseWinnerIsFoundWhicheverTwinItIs) {
  for (const double sign : {1.0, -1.0}) {
    TwinTimes times = quiet();
    times.log_ratios.assign(8, sign * 0.02);
    EXPECT_THAT(noise_floor(times, {}).distrust, ElementsAre(HasSubstr("same artifact")));
    times.log_ratios.assign(7, sign * 0.02);  // half of the error each way: seven do not do
    EXPECT_THAT(noise_floor(times, {}).distrust, IsEmpty());
  }
}

TEST(Twins, TooManyRejectedRoundsAreSaidWithTheirReason) {
  TwinTimes times = quiet();
  times.rejected_rounds = 4;
  times.why_rejected = {{"other programs were busy", 3}, {"the hypervisor took CPU time", 1}};
  EXPECT_THAT(noise_floor(times, {}).distrust,
              ElementsAre("4 of 18 rounds were rejected: other programs were busy (3), the hypervisor took CPU time (1)"));
  times.rejected_rounds = 3;
  EXPECT_THAT(noise_floor(times, {}).distrust, IsEmpty());
}

TEST(Twins, RestlessSessionsAndNoSessionsAtAllAreNotTrusted) {
  TwinTimes times = quiet();
  times.log_ratios = {0.1, -0.1, 0.05};
  EXPECT_THAT(noise_floor(times, {}).distrust, ElementsAre(HasSubstr("vary by 10.4 %")));
  times.log_ratios = {0.1};
  EXPECT_THAT(noise_floor(times, {}).distrust, ElementsAre(HasSubstr("fewer than two")));
}

TEST(Twins, TimeBuysSessionsUpToWhatTuneWouldMake) {
  const TwinTimes times = quiet();
  EXPECT_EQ(provable_in(15, times, 0.01, {}).sessions, 7);
  EXPECT_FALSE(provable_in(15, times, 0.01, {}).gain);  // eight are needed
  EXPECT_EQ(provable_in(16, times, 0.01, {}).sessions, 8);
  const double in_16_seconds = provable_in(16, times, 0.01, {}).gain.value();
  const double in_an_hour = provable_in(3600, times, 0.01, {}).gain.value();
  EXPECT_EQ(provable_in(3600, times, 0.01, {}).sessions, kMaxDecidingSessions);
  EXPECT_LT(in_an_hour, in_16_seconds);
  EXPECT_GT(in_an_hour, 0.01);
}

}  // namespace
}  // namespace fiel
