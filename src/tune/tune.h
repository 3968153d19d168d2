// The pipeline: from a contract to a verdict, as a list of steps. The file to read first.
#pragma once

#include <optional>
#include <string>

#include "decide/lab.h"
#include "decide/ledger.h"
#include "decide/verdict.h"
#include "tune/plan.h"

namespace fiel {

struct TuneInput {
  Lab& lab;
  const HoldoutSet& holdout;
  Ledger& ledger;
  std::string run_id;
  std::string strategy = "auto";
  std::string routes;                       // expression; empty: the whole space
  std::optional<std::int64_t> candidates;   // at most so many are built in the search
  double wall_seconds = 15 * 60;
  std::string last_run = {};                // an earlier run's winner (last_winner.h); empty: none
};

/// The error that the first nominee would be judged with, after so many openings of the hold-out by earlier runs.
double first_alpha(const Contract& contract, int openings);

/// Runs, or goes on with, all steps. kCancelled: interrupted, resumable; other errors: see their hints.
Result<Verdict> tune(TuneInput& input);

}  // namespace fiel
