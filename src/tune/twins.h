// The A/A: one artifact under two names, timed against itself in the very sessions that `tune` proves with. What it finds is
// noise, so a winner among twins, or noise beyond the limits, means that no winner found here now can be believed
// (methodology A4, rule 9).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "decide/lab.h"

namespace fiel {

struct TwinTimes {
  std::string route;
  std::vector<double> log_ratios;       // one a session that had a value
  int sessions = 0;
  int rounds = 0, rejected_rounds = 0;
  std::map<std::string, int> why_rejected;  // rounds by reason
  double seconds_per_session = 0;
};

/// Registers a second name for candidate `id`: the same artifact and the same judgement, no work.
Result<int> add_twin(Lab& lab, int id);

/// Sessions of candidate `id` and its twin until `seconds` are over; three at least.
Result<TwinTimes> time_twins(Lab& lab, int id, double seconds);

struct NoiseFloor {
  std::optional<double> deviation;      // of a session's log-ratio; needs two sessions
  std::vector<std::string> distrust;    // empty: this machine can be trusted; else why not
};

struct SpeedTerms {
  double min_gain = 0.01;
  double confidence = 0.95;
};
/// What the twins' times say of the machine.
NoiseFloor noise_floor(const TwinTimes& times, const SpeedTerms& terms);

struct Provable {
  double seconds = 0;         // of proof
  std::int64_t sessions = 0;  // that fit in, and that `tune` would make
  std::optional<double> gain; // proven in 8 of 10 cases; absent: nothing can be proven in that time
};
Provable provable_in(double seconds, const TwinTimes& times, double deviation, const SpeedTerms& terms);

}  // namespace fiel
