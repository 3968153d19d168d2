// With which error may this nominee be judged, so that all nominees of all runs together stay
// within the error that was promised?
//
// Knows counts only; the ledger of openings lies in the user's state folder, the order of nominees
// in the journal. Two promises are kept at once:
//   per run     nominee j = 1, 2, 3 gets alpha 2^-j; these sum to less than alpha
//   per set     opening j of one hold-out set, over all runs, gets 6 alpha / (pi^2 j^2); these sum
//               to alpha (Basel problem)
// Judging at the smaller of the two keeps both: an error at most a_j and at most b_j adds at most
// a_j to the one sum and at most b_j to the other (union bound; no independence is needed).
#pragma once

#include <cstdint>

namespace fiel::stats {

/// alpha 2^-j, j from 1. alpha = 5 %: 2.5, 1.25, 0.625 %.
double nominee_alpha(double alpha, std::int64_t nominee);

/// 6 alpha / (pi^2 j^2), j from 1. alpha = 5 %: 3.040, 0.760, 0.338 %.
double opening_alpha(double alpha, std::int64_t opening);

struct Turn {
  std::int64_t nominee;  // of this run, from 1
  std::int64_t opening;  // of this hold-out set over all runs, from 1
};

/// The smaller of the two: what one nominee's accuracy is judged with.
double holdout_alpha(double alpha, const Turn& turn);

}  // namespace fiel::stats
