// The outputs that judge the others: kept on disk for a set, with the reference's own scores per task.
#pragma once

#include "gate/gate.h"

namespace fiel {

class ReferenceStore {
 public:
  /// Starts an empty store for `set` at `file` (a pack of raw tensors; an index beside it).
  static Result<ReferenceStore> create(const Contract& contract, const SampleSet& set, const std::filesystem::path& file,
                                       const std::filesystem::path& scratch, int cancel_fd);
  /// Opens a finished one; an unfinished or damaged one is kCorrupt (make it again).
  static Result<ReferenceStore> open(const Contract& contract, const SampleSet& set, const std::filesystem::path& file);

  /// Adds a chunk: checks that it is finite (unless allowed), scores it with every task's evaluator. kContract, naming sample
  /// and tensor, where the reference itself is unfit to judge.
  Result<> add(std::span<const SampleOutputs> chunk);
  Result<> finish();  // durable; FIEL_CHECKs that every sample is there

  Result<std::map<std::string, Tensor>> outputs(int index) const;  // or a view into the mapped file
  const Scores& scores() const;
  std::map<std::string, double> mean_scores() const;               // by task
  std::map<std::string, std::string> mistrusted() const;           // output -> why
};

}  // namespace fiel
