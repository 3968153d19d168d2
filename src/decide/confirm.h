// The proof: one nominee at a time against the comparator, on data and processes that had no say in its choice. Speed by
// the e-process over sessions of fresh process pairs; only then the hold-out, once; after a win, a fixed number of
// further sessions for the figure that is reported (methodology B2, D1).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "decide/judge_full.h"
#include "decide/lab.h"
#include "decide/ledger.h"
#include "decide/session.h"

namespace fiel {

inline constexpr int kMaxDecidingSessions = 25;
inline constexpr int kEstimatingSessions = 10;

enum class Proof { kProven, kRefuted, kUndecided };
std::string_view to_string(Proof proof);

struct ProofResult {
  Proof proof = Proof::kUndecided;
  std::string message;  // what decided it, or what is missing
};

/// A further look at the nominee in every confirming process; what it finds wrong ends the nominee.
using EveryProcess = std::function<Result<std::optional<Unfaithful>>(Live& nominee)>;

/// Is nominee number `turn` (1-based) faster than the comparator by more than min_gain? `look` may be empty; no time left ends in
/// kUndecided.
Result<ProofResult> confirm_speed(Lab& lab, int comparator, int nominee, int turn, const TimeLeft& time_left,
                                  const EveryProcess& look);

/// For `claim = "this_set"`: point estimates on the whole hold-out, opened under the ledger, in every confirming process.
Result<EveryProcess> look_at_this_set(Lab& lab, const HoldoutSet& holdout, Ledger& ledger, const std::string& run_id,
                                      int nominee, int turn);

/// Is it accurate on the hold-out? Opens it under the ledger: the opening is on disk before the first sample is read.
Result<ProofResult> confirm_accuracy(Lab& lab, const HoldoutSet& holdout, Ledger& ledger, const std::string& run_id,
                                     int nominee, int turn);

/// Speed-up of a winner from sessions that decided nothing.
Result<> estimate_speedup(Lab& lab, int comparator, int winner);

}  // namespace fiel
