// One whole tuning run on a simulated machine: the pipeline of tune/tune.h from anchors to verdict, with nothing in its
// place but the processes and the clock. Says what the run claimed, beside what was true.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "base/files.h"
#include "decide/verdict.h"
#include "proof/simulated_machine.h"

namespace fiel {

/// The data of a simulated contract; labels say the truth, the reference is wrong on every tenth sample.
struct SimulatedData {
  int tuning = 4;
  int holdout = 60;
  double max_drop = 0.1;
  int slices = 1;
  double min_gain = 0.01;
  double confidence = 0.95;  // of speed and of accuracy
};

struct SimulatedOutcome {
  VerdictWord word = VerdictWord::kUndecided;
  std::optional<double> winner_log_gain;    // true
  double nominee_log_gain = 0;              // true, of the first nominee; 0 without one
  std::optional<double> race_log_ratio;     // what the race said of the first nominee
  int deciding_sessions = 0;                // of the first nominee
  bool speed_confirmed = false;             // of any nominee
  bool first_confirmed = false;             // speed of the first nominee
  std::vector<double> deciding_log_ratios;  // of the first nominee
  std::vector<double> estimates;            // log-ratios of the estimating sessions of a winner
  std::string reason;
  double search_seconds = 0;                // of simulated time, from the first question to the last answer
  double gate_seconds = 0;                  // the same of full judgements after it
  std::int64_t judged = 0;                  // in them
  double own_cpu_seconds = 0;               // of this process, in the whole run
};

inline constexpr double kPlentyOfTimeSeconds = 1e7;  // of the simulated clock

/// Model, data and contract on disk (in memory where there is enough), made once for many runs.
class SimulatedProject {
 public:
  static Result<SimulatedProject> create(const SimulatedData& data);

  /// A fresh run with a ledger and a journal of its own; `machine.seed` seeds the run too.
  Result<SimulatedOutcome> run(const SimulatedMachine& machine, double wall_seconds = kPlentyOfTimeSeconds) const;

 private:
  SimulatedProject(TempFolder folder, Contract contract) : folder_(std::move(folder)), contract_(std::move(contract)) {}
  TempFolder folder_;
  Contract contract_;
};

}  // namespace fiel
