// Where would the search have stopped by its own rules (search/stop_rule.h), and was that a good place? On a recording, where what
// would have come is known.
//
// The bill of a search that ends after some trials: all executions planned, as fast as the best that was found, and the trials
// made. So that recordings of any unit compare, an execution of the median configuration takes 10 ms and a mean trial 5 s. The
// yardstick is the one number of trials that is best for this space and plan, which nobody knows beforehand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "replay/replay.h"
#include "search/stop_rule.h"

namespace fiel {

struct StoppingOptions {
  ReplayOptions replay;
  double spread = 1;  // the dearest configuration costs this many times the cheapest one; 1: as recorded
};

struct BreakEvenAt {
  double executions = 0;
  double stop_trials = 0, best_fixed_trials = 0;  // means over the repeats; the start counts none
  double bill = 0, best_fixed_bill = 0;           // seconds
  std::vector<double> fixed_bills = {};           // of 0, 1, 2, ... trials whatever they bring, means over the repeats
  double regret = 0, best_fixed_regret = 0;       // bill over that of the optimum at once: of what could be saved at all
};

struct PlateauAt {
  double stop_trials = 0, all_trials = 0;
  double regret = 0, regret_p95 = 0;  // best found / optimum - 1, where it stopped
  double regret_of_all = 0;           // at the end
};

struct StoppingSummary {
  std::string space, strategy;
  int repeats = 0;
  double spread = 1;
  std::vector<BreakEvenAt> break_even;
  PlateauAt plateau;
};

Result<StoppingSummary> replay_stopping(const Recording& recording, const StoppingOptions& options);

/// Trials after which these terms end a simulated search; its first step is the comparator and costs nothing.
std::size_t stops_after(const Simulation& simulation, const StopRule::Terms& terms, double comparator_value);

/// The same recording with costs that depend on each knob's value.
Recording with_costs_spread(Recording recording, double spread);

std::string stopping_text(const StoppingSummary& summary);
Json stopping_json(const StoppingSummary& summary);

}  // namespace fiel
