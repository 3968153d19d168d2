// What the user asks for: the contract file, read, checked and resolved. Knows the file, not the
// machine: whether an engine works or the data suffices is asked later.
//
// Paths are absolute after reading (relative ones are taken from the contract's folder). Fractions
// are fractions (0.01 = 1 %), times are seconds, memory is bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/tensor.h"

namespace fiel {

enum class Scenario { kSingleStream, kOffline, kServer };
enum class Objective { kLatencyMean, kLatencyP50, kLatencyP90, kLatencyP99, kThroughput };
enum class Claim { kFutureData, kThisSet };
enum class ReferenceKind { kFloat32, kBaseline, kFiles };
enum class TensorMetric { kMaxAbs, kMaxRel, kAllclose, kL2, kCosine, kSqnr, kArgmaxAgreement };
enum class NonFinite { kReject, kWhereReferenceIs };

std::string_view to_string(Scenario);
std::string_view to_string(Objective);
std::string_view to_string(Claim);
std::string_view to_string(ReferenceKind);
std::string_view to_string(TensorMetric);
std::optional<TensorMetric> parse_tensor_metric(std::string_view name);

/// One shape of the traffic: every input's full shape, batch axis included.
struct TrafficShape {
  double weight = 1.0;
  std::map<std::string, Shape> inputs;
};

struct InputRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

struct StateLink {
  std::string output;
  std::string input;
};

/// A quick filter on one output; may reject, never proves. `min` or `max` bounds the metric,
/// allclose has rtol/atol.
struct TensorRule {
  std::string output;
  TensorMetric metric = TensorMetric::kCosine;
  std::optional<double> min;
  std::optional<double> max;
  double rtol = 0.0;
  double atol = 0.0;
  NonFinite non_finite = NonFinite::kReject;
};

/// How much worse than the reference the mean score may be (absolute in score units, or as a share
/// of the reference's score), and/or a floor of its own.
struct Margin {
  std::optional<double> max_drop;
  std::optional<double> max_drop_relative;
  std::optional<double> min_score;  // lower_is_better: a ceiling
};

enum class BuiltinEvaluator { kTop1, kTop5, kBinary, kAbsoluteError, kAgreement, kEmbeddingCosine };
std::optional<BuiltinEvaluator> parse_builtin_evaluator(std::string_view name);
std::string_view to_string(BuiltinEvaluator);
bool needs_labels(BuiltinEvaluator);
bool needs_reference(
    BuiltinEvaluator);  // scores a candidate's outputs against the reference's outputs

struct TaskRule {
  std::string name;
  std::optional<BuiltinEvaluator> builtin;  // else `program`
  std::vector<std::string>
      program;         // argv; words that name a file beside the contract are absolute
  std::string output;  // built-ins: which output they read; empty = the model's only/first one
  Margin margin;
  std::map<std::string, Margin> slices;
  bool lower_is_better = false;
  double timeout_seconds = 120;
  std::string group;  // column of labels.csv; samples of one group stay together
};

struct Accuracy {
  ReferenceKind reference = ReferenceKind::kFloat32;
  std::filesystem::path reference_files;  // kFiles: folder of outputs, same layout as a data set
  double confidence = 0.95;
  Claim claim = Claim::kFutureData;
  std::vector<TensorRule> tensors;
  std::vector<TaskRule> tasks;  // at least one
};

/// A model of somebody else's making that races as a value of the knob `variant`: a ready file, or what a program makes of the
/// model and the calibration set.
struct VariantFile {
  std::string name;
  std::filesystem::path model;  // empty: a program's, or only named and nothing is built of it
  std::string digest = {};      // SHA-256, once the files are read (model/model_file.h)
  std::vector<std::string> program = {};
  double timeout_seconds = 600;  // of the program
  bool confine = true;           // false: the program may do whatever the user may
};

struct EngineTarget {
  std::string name;  // "openvino"
  std::filesystem::path
      worker;  // empty: fiel's own worker beside the fiel program; a bare name: looked up on PATH
  std::filesystem::path library;       // for the worker to load: --library
  std::vector<std::string> arguments;  // passed to the worker program (scripted engine: its script)
  bool confine = true;                 // false: the worker may do whatever the user may
  bool network = false;                // sockets for a confined one
  std::vector<std::filesystem::path> writable = {};  // what a confined one may write besides its own folders
};

struct Limits {
  std::optional<std::int64_t> peak_memory_bytes;
  std::optional<double> latency_p99_seconds;
  std::optional<double> build_time_seconds;
  std::optional<std::int64_t> artifact_bytes;
};

/// Limits of single phases, within the whole.
struct PhaseLimits {
  std::optional<double> search_seconds = {};  // building, probing and first timings
  std::optional<double> gate_seconds = {};    // full judgement on tuning data, after the search
  std::optional<double> race_seconds = {};
  std::optional<double> proof_seconds = {};   // of speed, on the hold-out, and of how much
};

struct Budget {
  double wall_seconds = 15 * 60;
  std::optional<std::int64_t> candidates;  // at most so many candidates are built in the search
  std::optional<std::int64_t> disk_bytes;  // artifacts and variants together
  PhaseLimits phases = {};
  std::optional<std::int64_t> executions;
  std::optional<double> serving_cost_per_hour;
  std::optional<double> tuning_cost_per_hour;
};

/// Machines that somebody else hands out (docs/fleet.md).
struct FleetTarget {
  std::vector<std::string> launcher;  // starts the words after it on a machine that it gets; empty: workers run here
  std::vector<std::string> join;      // the same on a machine that is ours already; {node} and {job} stand for it
  double wait_seconds = 3600;         // for a machine, in a queue
  double patience_seconds = 15;       // a machine that does not answer so long is lost
  int workers = 1;                    // machines at a time

  struct Kind {
    std::vector<std::string> launcher, join;
  };
  std::string target;                   // which of `targets` this is; empty: none of them
  std::map<std::string, Kind> targets;  // kinds of machines, by the user's names; with them alone, `launcher` is empty

  /// `join`, or what fits the launcher where the contract does not say.
  std::vector<std::string> join_words() const;
  /// Frees a machine whose keeper is gone; empty: nobody knows how.
  std::vector<std::string> cancel_words() const;
};
/// Cut at blanks; kUsage for what only a shell would understand.
Result<std::vector<std::string>> launcher_words(const std::string& text);

struct Contract {
  std::filesystem::path file;  // where it came from; empty for one that fiel made up
  std::string shown_file;      // the same as the user wrote it, for messages
  std::string text;            // the exact bytes, frozen into the run folder
  std::filesystem::path model;
  std::vector<TrafficShape> shapes;
  std::map<std::string, InputRange> input_ranges;
  std::vector<StateLink> state;
  std::vector<VariantFile> variants;
  std::filesystem::path calibration, tuning, holdout;  // calibration may be empty
  std::filesystem::path data;  // `samples`: one folder, split by hash; then the three are empty
  std::vector<EngineTarget> engines;
  std::string device = "CPU";
  std::vector<int> cores;  // empty: all that this process may use
  std::string baseline;    // a build route; empty: the first engine's defaults
  FleetTarget fleet;
  Scenario scenario = Scenario::kSingleStream;
  Objective objective = Objective::kLatencyP50;
  std::optional<double> target_qps;
  Limits limits;
  double min_gain = 0.01;
  double speed_confidence = 0.95;
  Accuracy accuracy;
  Budget budget;
  std::map<std::string, int> lines;  // of each key that is there: "accuracy.task[0].output" -> 41

  /// "contract.toml:41: accuracy.task.output": how later checks begin their messages.
  std::string place(std::string_view key) const;
};

/// Reads and checks `file` on its own. Every error names file, line, key and what to do, all of
/// them at once, one a line; an unknown key names the nearest known one. Contradictions (a p99
/// limit in `offline`, min_gain < 0, a task without a margin ...) are refused, and so are model,
/// data, libraries and evaluators that do not exist.
Result<Contract> read_contract(const std::filesystem::path& file);
/// The same from text, but what it names need not exist (yet, or any more: a resumed run reads its
/// frozen text); `file` is used for messages and for relative paths only.
Result<Contract> parse_contract(std::string text, const std::filesystem::path& file);

}  // namespace fiel
