// The outputs that judge the others: kept on disk for a set, with the reference's own scores per task.
//
//   <file>        all outputs of all samples, raw (contract/pack.h)
//   <file>.json   where they lie, what they are like, the scores; written last, so a store without it is unfinished
#pragma once

#include <memory>

#include "gate/gate.h"
#include "gate/score.h"

namespace fiel {

class ReferenceStore {
 public:
  /// Starts an empty store for `set` at `file` (a pack of raw tensors; an index beside it).
  static Result<ReferenceStore> create(const Contract& contract, const SampleSet& set, const std::filesystem::path& file,
                                       const std::filesystem::path& scratch, int cancel_fd);
  /// Opens a finished one; an unfinished or damaged one is kCorrupt (make it again).
  static Result<ReferenceStore> open(const Contract& contract, const SampleSet& set, const std::filesystem::path& file);

  ReferenceStore(ReferenceStore&&) noexcept;
  ReferenceStore& operator=(ReferenceStore&&) noexcept;
  ~ReferenceStore();

  /// Adds a chunk: checks that it is finite (unless allowed), scores it with every task's evaluator. kContract, naming sample
  /// and tensor, where the reference itself is unfit to judge.
  Result<> add(std::span<const SampleOutputs> chunk);
  Result<> finish();  // durable; FIEL_CHECKs that every sample is there

  // The rest is there once finish() was called, or after open().

  Result<std::map<std::string, Tensor>> outputs(int index) const;
  /// The same in place; valid as long as the store.
  const OutputViews& views(int index) const;
  const Scores& scores() const;
  std::map<std::string, double> mean_scores() const;               // by task
  /// Outputs that are constant or mostly zeros over the whole set, or whose rule proves nothing -> why.
  std::map<std::string, std::string> mistrusted() const;
  /// By output, merged over all samples.
  const std::map<std::string, TensorTraits>& traits() const;
  /// How the task's built-in evaluator is to be called, here and for candidates.
  ScoreOptions score_options(const TaskRule& task) const;

 private:
  struct Impl;
  explicit ReferenceStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// `reference = "files"`: a store made of a folder of outputs in place of an engine's. The folder is
/// accuracy.reference_files, or the folder of the set's name in it (tuning, holdout), and holds `<sample>.npz` for each
/// sample, or one `outputs.npz` with the samples along axis 0 in the set's order.
Result<ReferenceStore> reference_from_files(const Contract& contract, const SampleSet& set,
                                            const std::filesystem::path& file,
                                            const std::filesystem::path& scratch, int cancel_fd);

}  // namespace fiel
