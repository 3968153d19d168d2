// The race of those that passed the full tuning gate: a fixed number of sessions, all contenders interleaved with the
// comparator, then a ranking, the set of equals, and at most three nominees in their order. No claim is made here.
#pragma once

#include <vector>

#include "decide/lab.h"

namespace fiel {

inline constexpr int kRaceSessions = 3;
inline constexpr int kMaxEntrants = 16;
inline constexpr int kMaxNominees = 3;

/// `entrants` without the comparator. Returns the nominees, best first; none where no estimate exceeds min_gain.
Result<std::vector<int>> race(Lab& lab, int comparator, const std::vector<int>& entrants);

}  // namespace fiel
