// What follows from all rows together? Every task, slice and tensor rule must pass; the worst failure is named.
#pragma once

#include <span>
#include <vector>

#include "gate/task_verdict.h"
#include "gate/tensor_rows.h"

namespace fiel {

struct Seen {
  std::int64_t samples = 0;
  std::int64_t all = 0;
};

GateResult hard_failure(const HardFault& fault, std::vector<TensorVerdict> tensors, const Seen& seen);

/// Admission needs every sample; a rejection does not.
GateResult conclude(std::span<const JudgedSlice> judged, std::vector<TensorVerdict> tensors, const Seen& seen);

}  // namespace fiel
