// Is a bundle still what was measured, still accurate, still faster, here and now? For CI, and after an upgrade.
//
// A regression check, not a proof: the hold-out is judged again by point estimates, without an opening in the ledger, and
// speed by a fixed number of sessions (stats/regression.h). What it says adds nothing to what the run proved.
//
//   seal         every byte is as it was sealed
//   environment  the same engine, device, CPU and cores
//   accuracy     inside the contract on the tuning and hold-out data that it was judged on, against a reference made afresh
//   speed        still faster than what it was proven faster than, in fresh process pairs
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "decide/progress.h"
#include "gate/gate.h"
#include "stats/regression.h"

namespace fiel {

inline constexpr const char* kRegressionWords = "regression check, not a proof";

struct VerifyOptions {
  std::filesystem::path bundle;
  std::filesystem::path contract;  // empty: the bundle's copy, whose paths start where the run's contract lay
  std::filesystem::path data;      // where [data]'s folders are now; empty: as the contract says
  std::filesystem::path model;     // where the model is now; empty: as the contract says
  enum class Depth { kQuick, kFull } depth = Depth::kFull;  // quick: seal and environment
  std::uint64_t seed = 1;
};

enum class CheckWord { kPassed, kFailed, kUndecided, kNotChecked };
std::string_view to_string(CheckWord word);

struct Check {
  CheckWord word = CheckWord::kNotChecked;
  std::string message;               // one sentence
  std::vector<std::string> details;  // one line each
};

/// What a speed-up is relative to, and what was proven of it.
struct SealedSpeed {
  std::string over;  // route
  std::string role;  // "baseline", "comparator"
  double estimate = 1;
  std::optional<double> low, high;
  std::int64_t sessions = 0;
};

struct Verification {
  std::string bundle_json;  // empty where it is not to be relied on
  Check seal, environment, accuracy, speed;
  std::optional<GateResult> tuning, holdout;
  std::optional<SealedSpeed> sealed_speed;
  std::vector<double> log_ratios;  // one a session, against SealedSpeed::over
  stats::SpeedRegression speed_now;
  std::optional<Error> trouble;    // why accuracy and speed could not be checked, where that is nobody's verdict
};

/// Errors: no bundle there (kUsage), one of a newer fiel (kEnvironment), interrupted. All else is in the Verification.
Result<Verification> verify_bundle(const VerifyOptions& options, ProgressSink& progress, int cancel_fd);

}  // namespace fiel
