// What is there to show of a run? One reading of its journal for the table, the JSON document and the bundle.
//
// Knows the events and nothing else: no engine, no contract file, no clock. A run that is still going, or was broken off,
// has no verdict and is shown with what it has.
//
//   …_seconds   seconds; latencies are of one inference (offline: of one batch)
//   ratio       times as fast as the comparator, by the contract's objective: 2 is twice as fast
//   …_json      JSON text as the journal has it; empty where there is none
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "decide/standing.h"

namespace fiel {

inline constexpr int kResultFormat = 1;  // of `show --json` and evidence.json

struct Port {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;  // -1: dynamic
};

struct CandidateView {
  int id = 0;
  std::string engine;
  std::string route;                               // as it is typed: "engine=openvino NUM_STREAMS=2"
  std::map<std::string, std::string> settings;     // without those of `environment`
  std::map<std::string, std::string> environment;  // must be set before the process starts
  std::map<std::string, std::string> properties;   // of `settings`, what the engine itself is given
  std::vector<std::string> roles;                  // "reference", "baseline", "default", "float32"
  std::string status;     // admissible | inadmissible | failed | duplicate | undecided | pruned
  std::string kind;       // the finer word of CandidateStatus: "wrong_slice", "timeout", ...
  std::string reason;
  std::string digest;
  std::string artifact;   // digest; empty if it was never built
  std::optional<int> same_as;
  std::optional<double> build_seconds;
  std::map<std::string, double> seconds_by_step;   // of the run, spent on this one alone: "build", "probe", "gate", ...
  std::optional<LatencySummary> latency;
  std::optional<AcceleratorSummary> accelerator;   // where its worker tells
  std::optional<std::int64_t> peak_memory_bytes;   // of a process that loads the artifact and runs it
  std::optional<std::int64_t> artifact_bytes;
  std::map<std::string, std::string> effective;    // settings as the engine read them back
  std::map<std::string, std::int64_t> precisions;  // nodes of the graph that runs, by precision
  std::map<std::string, std::int64_t> placement;   // the same by device
  std::vector<std::string> ignored;                // what did not come out as asked: "INFERENCE_PRECISION_HINT=bf16 ran as f32"
  std::vector<Port> inputs, outputs;               // empty where the journal does not have them
  std::string gate_tuning_json, gate_holdout_json;
  std::string consistency_json;  // of a finalist: how far its own answers move when it is asked again
  std::optional<double> margin_left;               // smallest (margin - drop) / margin on the tuning set
  std::optional<double> screen_ratio;              // one session: an order for the queue, no claim
  std::vector<double> race_ratios;                 // one a session
  std::string failure_json;
  std::string log_tail;
  std::string reproduce;                           // a command line
  std::optional<double> tried_at_seconds;          // of the run's working time, when its build or probe ended

  bool is_baseline() const;
};

struct SessionResult {
  double ratio = 1;
  bool win = false;
};

struct NomineeView {
  int id = 0;
  int turn = 0;                // 1: the first that was tried
  double alpha = 0;            // share of the error budget
  std::optional<int> opening;  // of the hold-out, counted over all runs of this user
  std::vector<SessionResult> sessions;
  std::string speed, holdout;  // "", confirmed, lost, undecided
  std::string message;         // what decided on its speed
  std::optional<double> e_value;
};

struct Speedup {
  double estimate = 1;
  std::optional<double> low, high, confidence;  // absent where there were too few sessions
  std::int64_t sessions_deciding = 0, sessions_estimating = 0;
  std::vector<double> session_ratios = {};      // of the estimating ones
};

/// How quiet the machine was while it was timed, by signals that know no latency.
struct NoiseView {
  std::int64_t rounds = 0, rejected_rounds = 0;  // of all sessions and first looks
  std::optional<double> session_deviation;       // of the log-ratios of the sessions of one pair; absent: too few of them
};

struct NearestMiss {
  int id = 0;
  std::string route, reason;
  double margin_left = 0;  // below 0: by this share of the margin too much
};

struct PhaseTime {
  std::string name;  // snake_case, from a closed list (phase_names())
  double seconds = 0;
};

struct BudgetView {
  double spent_seconds = 0;
  std::optional<double> wall_seconds;
  std::string stop_reason;        // of the search; empty while it goes on
  std::vector<PhaseTime> phases;  // in the order of the flow; they add up to spent_seconds
};

struct SearchView {  // of a search that has ended
  std::string strategy = {};
  double space_size = 0;            // routes
  std::int64_t tried = 0;
  bool all_tried = false;           // every route of the space was asked for
  std::vector<int> uniform_draws = {};  // candidates that were drawn with equal chances for all routes, and tried
  std::int64_t draws_put_off = 0;   // drawn like that, and left for later
};

struct BreakEven {
  std::optional<std::int64_t> planned_executions;
  std::string of;                            // the objective that the saving is of: "latency_p50"
  double saved_seconds_per_execution = 0;    // from the lower end of the speed-up's interval; 0: none is proven
  std::optional<std::int64_t> executions;    // until the tuning time is saved; absent: never
};

struct EngineView {
  std::string name, version;
  std::vector<std::string> devices, cpu_features;
};

/// A machine that a launcher found (docs/fleet.md), and the recorded steps that were done on it.
struct MachineUse {
  std::string node, job;
  std::int64_t steps = 0;
  std::int64_t lost = 0;  // attempts that it took with it when it went
};

struct RunView {
  std::filesystem::path folder;
  std::string run_json;  // body of the event `run`
  std::vector<EngineView> engines;
  std::vector<MachineUse> machines;  // none: all was done beside fiel
  std::string contract_file, scenario, objective, claim;
  std::int64_t tuning_samples = 0, holdout_samples = 0;
  double min_gain = 0;

  std::string stage;      // phase of the last event
  std::string verdict;    // improved | not_improved | undecided | infeasible; empty while the run goes on
  std::string reason;
  std::vector<std::string> missing;
  std::optional<int> reference, baseline, comparator, winner, ships;
  bool baseline_admissible = true;
  std::string comparator_why;
  std::optional<Speedup> speedup;
  std::map<int, CandidateView> candidates;
  std::vector<int> equivalent;
  std::vector<NomineeView> nominees;  // in the order that was fixed before the hold-out opened
  std::vector<NearestMiss> nearest_misses;
  BudgetView budget;
  std::optional<SearchView> search;
  std::optional<BreakEven> break_even;
  NoiseView noise;

  const CandidateView* find(std::optional<int> id) const;
};

/// What the contract's objective costs, in seconds per execution (offline: per sample). The tail's percentiles are no cost
/// that adds up over executions, so they count by their mean.
std::optional<double> cost_seconds(const RunView& view, const CandidateView& candidate);

/// Reads the journal of the run in `folder`, every checksum verified.
Result<RunView> read_run(const std::filesystem::path& folder);

}  // namespace fiel
