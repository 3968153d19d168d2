// The inner loop of every tensor comparison: one pass over two tensors of the same dtype and shape.
// Knows no rules and judges nothing. Blocks are turned into doubles first, so that there is one loop for all dtypes;
// the error of 64-bit integers is taken before that, since a double cannot hold them.
#pragma once

#include <cstdint>
#include <limits>

#include "model/tensor.h"

namespace fiel::detail {

struct ErrorSums {
  double rr = 0, aa = 0, ra = 0, ee = 0;  // of reference, candidate and error, times a common scale squared
  double max_abs = 0;
  double max_rel = 0;
  std::int64_t worst_index = -1;
  std::int64_t violations = 0;  // !(error <= atol + rtol |r|)
  std::int64_t zeros = 0;       // of the reference
  double min = std::numeric_limits<double>::infinity();  // of the reference
  double max = -std::numeric_limits<double>::infinity();
  bool reference_finite = true;
  bool candidate_finite = true;
};

struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

enum class NonFinitePairs {
  kSeen,     // they show in reference_finite and candidate_finite, and make nonsense of the sums
  kSkipped,  // places where both are non-finite count as equal zeros (the caller has checked their class)
};

ErrorSums error_sums(const TensorView& reference, const TensorView& candidate,
                     const Tolerance& tolerance, NonFinitePairs pairs);

/// The same fields of one tensor alone; min, max and zeros mean something only where it is finite.
struct ValueRange {
  double min = 0, max = 0;
  std::int64_t zeros = 0;
  bool finite = true;
};
ValueRange value_range(const TensorView& tensor);

}  // namespace fiel::detail
