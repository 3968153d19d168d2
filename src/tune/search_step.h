// The search of a run: ask, build, probe, screen, tell; until nothing is left to ask, going on is not worth its cost, or a limit of
// the budget is reached. Which limit that was is one of a closed list.
//
// Nothing is started that the search's share can't pay, by what its kind took before; and a build that takes longer all the same
// ends with that share, so that the proof's is never touched. All decisions come out of records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "decide/lab.h"
#include "search/stop_reason.h"
#include "tune/plan.h"

namespace fiel {

struct SearchInput {
  Lab& lab;
  int comparator = 0;
  const std::string& strategy;
  const std::string& routes;               // expression; empty: the whole space
  const std::string& last_run;             // what last_winner.h kept of an earlier run; empty: none
  std::optional<std::int64_t> candidates;  // at most so many are built
  double until = 0;                        // spent seconds at which it must end
  double wall_seconds = 0;
  double gate_seconds = 0;                 // one full judgement
  double first_guess_seconds = 0;          // of a trial, before one was made
};

struct SearchEnd {
  std::int64_t tried = 0;
  StopReason stop = StopReason::kExhausted;
};

/// Bytes of what was built, each artifact once, with room for one more as large as the largest: artifact and variant.
std::int64_t disk_for_another(const Lab& lab);

double first_guess_of_a_trial(const Costs& costs);

Result<SearchEnd> search(const SearchInput& in);

}  // namespace fiel
