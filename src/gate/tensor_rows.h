// What did the tensor rules see so far? Feeds each output of each sample to compare.h and keeps the worst per rule.
// Knows no tasks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "contract/contract.h"
#include "gate/gate.h"
#include "gate/reference.h"

namespace fiel {

/// Something that ends the judgement of a candidate at once.
struct HardFault {
  GateReason reason;
  std::string message;
};

class TensorRows {
 public:
  TensorRows(const Contract& contract, const ReferenceStore& reference);

  /// Compares one sample's outputs; a fault that no rule can excuse comes back.
  std::optional<HardFault> add(const Sample& sample, const OutputViews& reference, const OutputViews& candidate);

  std::vector<TensorVerdict> verdicts() const;

 private:
  struct Row {
    std::optional<TensorRule> rule;  // nothing: an output that no rule names
    WithoutRule without_rule = WithoutRule::kIntegersExact;
    std::int64_t void_samples = 0;
    std::string void_reason = {};
    bool void_everywhere = false;  // the reference proves nothing over the whole set
    TensorVerdict verdict = {};
  };
  void note(Row& row, const TensorComparison& compared, const Sample& sample);

  std::vector<Row> rows_;
};

}  // namespace fiel
