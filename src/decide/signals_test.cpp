#include "decide/signals.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fiel {
namespace {

Signals quiet() {
  Signals signals;
  signals.wall_seconds = 1;
  return signals;
}

TEST(Signals, AQuietRoundIsKept) { EXPECT_EQ(quiet().why_reject(), ""); }

TEST(Signals, EachKindOfDisturbanceIsNamed) {
  Signals foreign = quiet(), steal = quiet(), paused = quiet(), heat = quiet();
  foreign.foreign_seconds = 0.51;
  steal.steal_seconds = 0.051;
  paused.paused_seconds = 0.02;
  heat.throttle_events = 1;
  EXPECT_EQ(foreign.why_reject(), "other programs were busy");
  EXPECT_EQ(steal.why_reject(), "the hypervisor took CPU time");
  EXPECT_EQ(paused.why_reject(), "a paused process ran");
  EXPECT_EQ(heat.why_reject(), "the CPU was throttled for heat");
}

TEST(Signals, WhatTheCandidateItselfMayCauseIsRecordedOnly) {
  Signals signals = quiet();
  signals.quota_stopped_seconds = 0.9;
  signals.highest_mhz = 800;
  EXPECT_EQ(signals.why_reject(), "");
  EXPECT_EQ(signals.json()["quota_stopped_seconds"], 0.9);
  EXPECT_EQ(signals.json()["highest_mhz"], 800);
}

TEST(Signals, WhatCannotBeReadIsAbsent) {
  EXPECT_FALSE(quiet().json().contains("throttle_events"));
  EXPECT_FALSE(quiet().json().contains("highest_mhz"));
}

// Steal is counted in ticks of 10 ms: one of them in a block of 140 ms is 7 % by the numbers, and may be nothing.
TEST(Signals, OneTickOfABlockIsNoEvidenceAndManyOfARoundAre) {
  Signals block = quiet(), calm = quiet(), round, stolen;
  calm.wall_seconds = 0.14;
  block.wall_seconds = 0.14;
  block.steal_seconds = 0.01;
  EXPECT_EQ(block.why_reject(), "");
  round.add(block);
  for (int i = 0; i < 6; ++i) round.add(calm);
  EXPECT_EQ(round.why_reject(), "");
  for (int i = 0; i < 7; ++i) stolen.add(block);
  EXPECT_EQ(stolen.why_reject(), "the hypervisor took CPU time");
  block.steal_seconds = 0.02;
  EXPECT_EQ(block.why_reject(), "the hypervisor took CPU time");
}

TEST(Signals, RoundsShorterThanTheTicksAreNotJudgedByCpuTimes) {
  Signals signals = quiet();
  signals.wall_seconds = 0.05;
  signals.foreign_seconds = 0.05;
  EXPECT_EQ(signals.why_reject(), "");
}

}  // namespace
}  // namespace fiel
