// The race of those that passed the full tuning gate: a fixed number of sessions, all contenders interleaved with the
// comparator, then a ranking, the set of equals, and at most three nominees in their order. No claim is made here.
#pragma once

#include <vector>

#include "decide/lab.h"
#include "decide/nominees.h"

namespace fiel {

inline constexpr int kRaceSessions = 3;
inline constexpr int kMaxEntrants = 16;

struct RaceResult {
  std::vector<int> nominees;  // as choose_nominees orders them; none where no estimate exceeds min_gain
  int rounds = 0;
  int rejected_rounds = 0;
};

/// Of this many rounds so many were rejected: the machine was too busy for a word on speed (methodology A4).
bool too_noisy(int rounds, int rejected_rounds);

/// `entrants` without the comparator.
Result<RaceResult> race(Lab& lab, int comparator, const std::vector<int>& entrants);

}  // namespace fiel
