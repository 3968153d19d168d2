// Where a run stands: every candidate with its status and figures, derived from the journal's events and from nothing
// else. The pipeline feeds it as it walks, the reports feed it from a finished (or broken-off) run: one reading of the
// record for both.
//
// Times are seconds per inference (offline: per sample), log-ratios are ln(comparator / candidate): above 0 is faster.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "journal/journal.h"
#include "route/build_route.h"

namespace fiel {

enum class CandidateStatus {
  kTried,         // passed the probe and was screened; not (yet) judged in full
  kAdmissible,    // passed the full tuning gate, or is proven on the hold-out
  kUnsupported,   // the engine does not take the model or a setting
  kBuildError,
  kCrash,
  kTimeout,
  kOutOfMemory,
  kNonFinite,     // NaN or infinity where the reference is finite
  kWrong,         // outputs or task score outside the contract
  kWrongSlice,    // only a slice is
  kOverLimit,     // memory, p99, build time or artifact size above [limits]
  kUnstable,      // the same artifact answered differently in another process
  kOverloaded,    // server: its queue grew at the contract's rate
  kFellBack,      // ran somewhere else than asked
  kDuplicate,     // same graph, effective settings and environment as an earlier one
  kMistrusted,    // the worker or the check can't be believed
  kUndecided,     // accuracy neither proven nor refuted on the hold-out
};

std::string_view to_string(CandidateStatus status);
std::optional<CandidateStatus> parse_candidate_status(std::string_view name);
/// Could this candidate still be a winner?
bool in_the_race(CandidateStatus status);

/// Latency percentiles with the number of timings behind them; absent where there are too few.
struct LatencySummary {
  std::int64_t count = 0;
  double mean_seconds = 0;
  double p50_seconds = 0;
  std::optional<double> p90_seconds;
  std::optional<double> p99_seconds;
  // What the true percentile does not exceed, at 99 %, as an order statistic.
  std::optional<double> p90_at_most_seconds;
  std::optional<double> p99_at_most_seconds;
  double per_second = 0;  // inferences (offline: samples) a second
};

/// What one execution costs by the contract's objective (offline: one sample); nothing where it was not timed. The tail's
/// percentiles are no cost that adds up over executions, so they count by their mean.
std::optional<double> seconds_per_execution(const LatencySummary& latency, std::string_view scenario, std::string_view objective);

/// What an accelerator says of itself when it was timed last; for people, nothing is decided by it.
struct AcceleratorSummary {
  std::optional<double> p50_seconds = {};  // how long the median inference kept it busy
  std::optional<std::int64_t> memory_bytes = {};
};

struct CandidateState {
  int id = 0;
  BuildRoute route;
  std::string digest;
  std::vector<std::string> roles;  // "reference", "baseline", "default", "float32"
  CandidateStatus status = CandidateStatus::kTried;
  std::string reason;
  std::string artifact;  // digest; empty if it was never built
  std::optional<double> screen_log_ratio;
  std::vector<double> race_log_ratios;  // one a session
  std::optional<LatencySummary> latency;
  std::optional<AcceleratorSummary> accelerator;
  std::optional<double> accuracy_margin_left;  // smallest (margin - drop) / margin on the tuning set
  std::optional<double> accuracy_to_spare;     // the same, each drop taken to be larger by its standard error
  double build_seconds = 0;
  std::int64_t peak_memory_bytes = 0;
  std::int64_t artifact_bytes = 0;

  bool has_role(std::string_view role) const;
};

struct PairSession {
  double log_ratio = 0;
  bool win = false;
};

struct NomineeState {
  int id = 0;
  double alpha = 0;
  std::vector<PairSession> sessions;
  std::string speed;    // "", "confirmed", "lost", "undecided"
  std::string holdout;  // "", "admissible", "rejected", "undecided"
};

class Standing {
 public:
  /// Takes one event in; unknown types are left alone, so that older readers can read newer minor versions.
  Result<> apply(const Event& event);
  static Result<Standing> of(const Journal& journal);

  std::map<int, CandidateState> candidates;
  std::vector<int> nominees_in_order;
  std::map<int, NomineeState> nominees;
  std::vector<int> equivalent;
  std::vector<double> estimate_log_ratios;
  std::optional<int> reference, baseline, comparator;
  std::string stage;         // of the last event
  std::string verdict;       // empty while the run goes on
  std::string stop_reason;   // of the search
  std::map<std::string, std::int64_t> variant_bytes;  // of those that were made

  CandidateState& at(int id);
};

}  // namespace fiel
