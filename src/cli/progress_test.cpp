#include "cli/progress.h"

#include <gtest/gtest.h>

namespace fiel {
namespace {

TEST(StatusLine, SaysTheStageTheTimeLeftTheBestAndWhatIsUnderWay) {
  EXPECT_EQ(status_line({.stage = "race", .left_seconds = 600, .wall_seconds = 900,
                         .best = "#4: 1.82x #2 [1.79, 1.85], 3 sessions", .detail = "candidate 4: 64/480 samples"}),
            "race; 10 min of 15 min left; best #4: 1.82x #2 [1.79, 1.85], 3 sessions; candidate 4: 64/480 samples");
}

TEST(StatusLine, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(status_line({.stage = "judge", .left_seconds = {}, .wall_seconds = 0, .best = "", .detail = "2/4 samples"}),
            "judge; 2/4 samples");
}

}  // namespace
}  // namespace fiel
