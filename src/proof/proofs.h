// All statistical proofs (methodology, table of proofs), each with its ablation: the same judge without the rule in
// question must fail, which shows that the proof can.
#pragma once

#include <string>
#include <vector>

#include "proof/finding.h"
#include "stats/noise_models.h"

namespace fiel {

inline constexpr double kAlpha = 0.05;  // what every proof holds the rules to
inline constexpr double kSigma = 0.01;  // of the simulated noise, log

/// Recorded timings of one configuration after another, each series in its order (seconds or any other unit).
using RecordedTimings = std::vector<std::vector<double>>;

/// The rules alone, fed by simulated noise: T1 to T3 and T5 with their ablations.
std::vector<StatisticalProof> speed_proofs();
/// The gate's tests alone, exact where scores are right or wrong: T6 with its ablations.
std::vector<StatisticalProof> accuracy_proofs();
/// No poisoned answer gets through the gate: T7.
std::vector<StatisticalProof> poison_proofs();
/// Whole tuning runs on simulated machines: T1 to T4 and T6. `recorded` may be empty.
std::vector<StatisticalProof> whole_run_proofs(const RecordedTimings& recorded);

}  // namespace fiel
