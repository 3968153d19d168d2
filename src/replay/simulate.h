// What would a strategy have found on this recording, and when? A virtual clock: the first visit of a configuration advances
// it by the recorded time to compile, verify and time it, another visit by nothing. Only recorded configurations can be
// asked for (Space::only); one that is not would be a bug of the strategy.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "replay/recording.h"
#include "replay/score.h"

namespace fiel {

enum class Noise {
  kNone,      // the strategy is told recorded values
  kRecorded,  // it is told the median of timings drawn from the recorded ones, and pays for each
};

enum class StartAt { kDefault, kRandom };

struct SimulationOptions {
  std::string_view strategy = "auto";
  std::uint64_t seed = 1;
  std::int64_t evaluations = 250;  // at least; goes on while the score's time lasts
  double seconds = 0;
  Noise noise = Noise::kNone;
  int timings = 3;  // with noise, per visit
  StartAt start = StartAt::kDefault;
};

/// One first visit, and what the strategy expected when it asked for it.
struct Step {
  double seconds = 0;
  std::optional<double> value;  // what was told; nothing where it failed
  bool admissible = false;
  double best = 0;              // true value of what looks best afterwards
  std::optional<Outlook> outlook;
};

struct Simulation {
  std::vector<Step> steps;
  std::vector<Improvement> improvements;   // in the order of the clock; with noise: true values of what looked best
  std::vector<double> best_after;          // value after 1, 2, ... evaluations; the worst admissible one before the first success
  std::int64_t failures = 0;               // failed or rejected
  double clock_seconds = 0;
  double proposal_seconds = 0;             // real time spent in the strategy
};

Result<Simulation> simulate(const Recording& recording, const Yardstick& yardstick, const SimulationOptions& options);

}  // namespace fiel
