#include "route/knob.h"

#include <gtest/gtest.h>

namespace fiel {
namespace {

TEST(Knob, KindsAreReadAsTheyAreWritten) {
  for (const KnobKind kind : {KnobKind::kProperty, KnobKind::kEnvironment, KnobKind::kVariant,
                              KnobKind::kShape, KnobKind::kBatch, KnobKind::kRuntime}) {
    EXPECT_EQ(parse_knob_kind(to_string(kind)), kind);
  }
  EXPECT_EQ(to_string(KnobKind::kEnvironment), "environment");
  EXPECT_FALSE(parse_knob_kind("unknown"));
  EXPECT_FALSE(parse_knob_kind(""));
}

}  // namespace
}  // namespace fiel
