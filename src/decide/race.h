// The race of those that passed the full tuning gate: a fixed number of sessions, all contenders interleaved with the
// comparator, then a ranking, the set of equals, and at most three nominees in their order. No claim is made here.
// A session that others disturbed is held again while there is time: it's the machine that failed, not a candidate.
#pragma once

#include <vector>

#include "decide/lab.h"
#include "decide/nominees.h"
#include "decide/session.h"

namespace fiel {

inline constexpr int kRaceSessions = 3;
inline constexpr int kMostRaceSessions = 9;  // those that were disturbed, too
inline constexpr int kMaxEntrants = 16;

struct RaceResult {
  std::vector<int> nominees;  // as choose_nominees orders them; none where no estimate exceeds min_gain
  int rounds = 0;
  int rejected_rounds = 0;
};

/// Of this many rounds so many were rejected: the machine was too busy for a word on speed (methodology A4).
bool too_noisy(int rounds, int rejected_rounds);

/// `entrants` without the comparator; `time_left` for another session beyond the first three.
Result<RaceResult> race(Lab& lab, int comparator, const std::vector<int>& entrants, const TimeLeft& time_left);

}  // namespace fiel
