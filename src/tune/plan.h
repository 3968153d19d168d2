// Who may spend how much of the budget: predictions from what the run has measured so far, and the share of the proof,
// which is reserved before the search starts (methodology E).
#pragma once

#include <cstdint>

#include "contract/contract.h"

namespace fiel {

struct Costs {
  double session_seconds_per_process = 0;  // one process of a session: start, load, probe, three rounds
  double gate_seconds = 0;                 // one full judgement on the tuning set
  double holdout_seconds = 0;              // one judgement on the hold-out
  double consistency_seconds = 0;          // one finalist asked again and again (decide/consistency.h)
};

struct BudgetPlan {
  int entrants = 0;            // of the race, without the comparator
  double reserve_seconds = 0;  // gate, race and proof together
  double search_until = 0;     // spent seconds at which the search must end
  double proof_seconds = 0;    // the cheapest proof there can be: needed to start the race at all
  bool affordable = false;     // false: the wall time, or a phase's, can't even pay the cheapest race and proof
  double least_wall_seconds = 0;
  double least_race_seconds = 0;  // the proof's is proof_seconds
};

/// `spent` seconds are gone, `wall` is the limit, `fewest_sessions` is what the e-process needs at best. A phase that has a limit
/// of its own needs no more kept back for it.
BudgetPlan plan_budget(const Costs& costs, double spent_seconds, double wall_seconds, std::int64_t fewest_sessions,
                       const PhaseLimits& limits = {});

}  // namespace fiel
