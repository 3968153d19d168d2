// Is a candidate accurate enough? The one place that answers it, and never with a bool. Judges outputs and scores; starts
// no engines.
//
//   score    per sample, by a task's evaluator; drop = reference - candidate (lower_is_better: the other way round)
//   margin   how much drop the contract allows, in score units
//   tuning   point estimates inside every margin: provisionally admissible
//   holdout  proof of non-inferiority, overall and per slice
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "contract/contract.h"
#include "contract/dataset.h"
#include "gate/outputs.h"

namespace fiel {

enum class GateStatus { kAdmissible, kRejected, kUndecided };
enum class GateReason { kNone, kNonFinite, kWrongOutput, kTensorRule, kTask, kSlice, kFloor, kUndecided };
std::string_view to_string(GateStatus);
std::string_view to_string(GateReason);

/// One task on one slice ("" = overall).
struct TaskVerdict {
  std::string task;
  std::string slice;
  std::int64_t n = 0;
  double reference_score = 0;  // mean
  double candidate_score = 0;  // mean
  double drop = 0;             // estimate
  std::optional<double> drop_lower;  // bounds at the confidence that was asked for; hold-out only
  std::optional<double> drop_upper;
  std::optional<double> drop_error;  // standard error of the mean drop over samples; point estimates of two samples and more
  std::optional<double> margin;
  std::optional<double> min_score;    // lower_is_better: a ceiling
  std::optional<double> score_bound;  // of the candidate's own mean, on the side of min_score; hold-out only
  std::int64_t wins = 0;       // samples on which the candidate did better / worse than the reference
  std::int64_t losses = 0;
  std::string method;          // "tango", "bca", "point estimate", ...
  GateStatus status = GateStatus::kRejected;
  std::optional<std::int64_t> n_needed;  // where undecided
};

/// The worst of one output over all samples seen.
struct TensorVerdict {
  std::string output;
  std::string metric;
  double worst = 0;
  std::string worst_sample;
  std::string bound;       // "cosine >= 0.99"
  GateStatus status = GateStatus::kRejected;
  std::string mistrusted;  // why the rule is void ("reference is constant"); empty if it holds
  std::int64_t samples = 0;     // that were compared
  std::int64_t rejected = 0;    // of these, outside the bound
  std::string message;          // of the first one outside
};

struct GateResult {
  GateStatus status = GateStatus::kRejected;
  GateReason reason = GateReason::kNone;
  std::string message;  // "exact_match lost 0.031 on slice small (margin 0.030, n 60)"
  std::int64_t samples_seen = 0;
  std::vector<TaskVerdict> tasks;
  std::vector<TensorVerdict> tensors;
  /// Smallest (margin - drop) / margin over tasks and slices; for ties and nearest misses. Absent if never scored.
  std::optional<double> margin_left;
  /// The same if each drop were larger by its standard error: what one may hope for on other data. As many samples that changed for the better
  /// as for the worse leave the margin whole, and still say that the next set may go the other way.
  std::optional<double> margin_to_spare;
};

Json to_json(const GateResult& result);
Result<GateResult> gate_result_from_json(const Json& json);

/// Scores of a task by sample index of the set.
using Scores = std::map<std::string, std::map<int, double>>;

/// What the reference scored, and where its outputs lie: see gate/reference.h.
class ReferenceStore;

/// Takes a candidate's outputs in, chunk by chunk, so that they can be deleted at once.
class Judge {
 public:
  /// `reference` holds outputs and scores of every sample of `set` that will be added. All must outlive the judge.
  /// `scratch` is for the folders that evaluator programs read.
  Judge(const Contract& contract, const SampleSet& set, const ReferenceStore& reference,
        std::filesystem::path scratch, int cancel_fd);
  ~Judge();

  Judge(Judge&&) noexcept;

  /// Checks and scores a chunk. An Error is an evaluator that broke, or cancellation, never the candidate's fault: where a
  /// program fails on the candidate's outputs, it is run on the reference's of the same samples, and only if that works
  /// are the outputs to blame. A sample that comes again keeps the worse of its scores. After a hard failure nothing more
  /// is scored.
  Result<> add(std::span<const SampleOutputs> chunk);

  /// Reject-only look at what was added so far (99.9 % bounds; hard failures at once); nullopt: go on.
  std::optional<GateResult> reject_early() const;
  /// Point estimates; with `claim = "this_set"` also the judgement of the hold-out. Undecided unless every sample of the
  /// set was added.
  GateResult judge_tuning() const;
  /// Proof at error level `alpha`: every bound inside its margin. An estimate outside rejects; an estimate inside whose
  /// bound is not is undecided and says how many samples would decide. Undecided unless every sample was added.
  GateResult judge_holdout(double alpha, std::uint64_t seed) const;

  /// This candidate's scores so far.
  const Scores& scores() const;
  /// A name for each sample's output bits (name_of_bits), by sample index.
  const std::map<int, std::string>& output_bits() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Could zero losses prove the contract on a set with these slices? One line per task and slice that it could not.
/// `reference_means` (by task, of the tuning set) turns relative margins into score units; without it, 1 is assumed, the
/// best case for scores up to 1. Nothing is said of scores whose scale is unknown (absolute_error, floors of programs).
struct Undecidable {
  std::string task;
  std::string slice;
  std::int64_t n = 0;
  std::int64_t n_needed = 0;  // 0: no number of samples would do (the margin is zero)
  double margin = 0;          // of the drop; 1 - min_score where it is the floor that cannot be proven
};
std::vector<Undecidable> undecidable(const Contract& contract, const Units& units,
                                     double alpha, const std::map<std::string, double>& reference_means = {});
std::string describe(const Undecidable& gap);

/// Seeded, stratified by slice: every prefix sees each slice in its share; at least one of each among the first ones.
std::vector<int> stratified_order(const SampleSet& set, std::uint64_t seed);

}  // namespace fiel
