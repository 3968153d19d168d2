// A machine that does not exist, for proofs: an engine whose candidates have known gains and known losses, on a machine
// whose noise is known too. It stands behind the pool and the clock, so the code that decides is that of real runs;
// thousands of runs need no process and no waiting.
//
// All processes of a run share one stream of noise (stats/noise_models.h), so the order in which they are timed matters as
// on a real machine. Knows nothing of what is being proven.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stats/noise_models.h"
#include "tune/workshop.h"

namespace fiel {

struct SimulatedCandidate {
  std::string name;              // a value of the engine's one knob, VARIANT
  double log_gain = 0;           // ln(time of the default / its time), the truth
  double chance_of_loss = 0;     // P(it answers wrong | the reference is right)
  double chance_of_win = 0;      // P(it answers right | the reference is wrong)
  std::optional<int> only_in_slice = {};  // elsewhere it answers like the reference
};

struct SimulatedMachine {
  stats::NoiseKind noise = stats::NoiseKind::kIid;
  double sigma = 0.01;  // of the noise, in log units
  /// In place of `noise`: the log-factor of the next timing, of a recorded series for instance.
  std::function<double()> recorded = {};
  std::uint64_t seed = 0;
  std::vector<SimulatedCandidate> candidates;  // the first one is the engine's default, the baseline
  double build_seconds = 0.2;
  double infer_seconds = 0.001;  // of a request
  int machines = 1;              // of this kind, on which a crew works
};

inline constexpr std::string_view kSimulatedEngine = "simulated";
inline constexpr std::string_view kSimulatedKnob = "VARIANT";

/// A sample's input is float32 [1, 4]: its class (0 or 1), a number of its own, whether the reference is right on it (1)
/// or wrong (0), and its slice. The output is float32 [1, 2], a score per class.
World simulated_world(const SimulatedMachine& machine);

}  // namespace fiel
