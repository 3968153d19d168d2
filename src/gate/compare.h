// How far is a candidate's tensor from the reference's, and may it stand? A filter: it rejects or says nothing.
//
// Knows no samples, tasks or files. Whatever the rule: another dtype or shape rejects, and so does a NaN or an
// infinity where the reference is finite. Every bound is written so that NaN fails.
//
//   max_abs  |a-r|                        l2       |a-r| / |r| over the whole tensor
//   max_rel  |a-r| / |r|                  sqnr     10 log10(sum r^2 / sum (a-r)^2), in dB
//   cosine   a.r / (|a| |r|)              argmax_agreement   share of rows (last axis) with the same argmax
//
// A relative error never divides by zero: errors and references below the smallest normal number of the dtype count
// as zero (engines may flush denormals), so a true zero that became 1e-3 has a huge, finite error and fails.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "contract/contract.h"
#include "model/tensor.h"

namespace fiel {

/// What a reference output is like; several samples' are merged to judge whether a rule on it proves anything.
struct TensorTraits {
  std::int64_t count = 0;
  std::int64_t zeros = 0;
  std::int64_t non_finite = 0;
  double min = std::numeric_limits<double>::infinity();  // of the finite elements
  double max = -std::numeric_limits<double>::infinity();

  void merge(const TensorTraits& other);
};

TensorTraits tensor_traits(const TensorView& tensor);

/// Why a rule on a floating output with these traits would prove nothing: constant, more than half zeros, a range
/// below 10 atol, or no elements. nullopt: it can be trusted. A single element is never called constant.
std::optional<std::string> reason_to_mistrust(const TensorTraits& reference, const TensorRule& rule);

enum class TensorStatus {
  kPassed,
  kMistrusted,    // the reference is such that the rule proves nothing; the task metric decides
  kRejected,
  kBadReference,  // the reference is not finite and no rule allows that: the contract's fault, not the candidate's
};
enum class TensorFault { kNone, kDType, kShape, kNonFinite, kRule };

std::string_view to_string(TensorStatus status);
std::string_view to_string(TensorFault fault);

struct TensorErrors {
  std::int64_t count = 0;  // elements that are finite on both sides
  double max_abs = 0;
  double max_rel = 0;
  double l2 = 0;
  double sqnr_db = std::numeric_limits<double>::infinity();
  std::optional<double> cosine;            // nothing where a norm is zero
  std::optional<double> argmax_agreement;  // only where a rule asks for it
  std::int64_t violations = 0;             // elements outside allclose, or unequal integers
  std::int64_t worst_index = -1;           // of max_abs, flat; -1 where all are equal
};

struct TensorComparison {
  TensorStatus status = TensorStatus::kPassed;
  TensorFault fault = TensorFault::kNone;
  std::string message;  // a fragment without the output's name: "cosine 0.91 is below 0.99"
  TensorErrors errors;
  TensorTraits reference;

  /// The value that the rule bounds; NaN where it is undefined. allclose: the number of elements outside.
  double value(const TensorRule& rule) const;
};

/// What holds for an integer or bool output that no rule names.
enum class WithoutRule {
  kIntegersExact,  // ids, masks, indices: one wrong element rejects
  kTaskDecides,    // a task metric reads this output
};

/// `rule` may be null: then only dtype, shape, finiteness and (see WithoutRule) integers are looked at.
TensorComparison compare_tensor(const TensorView& reference, const TensorView& candidate,
                                const TensorRule* rule,
                                WithoutRule without_rule = WithoutRule::kIntegersExact);

/// Metrics whose bound is `min` (a higher value is nearer to the reference).
bool higher_is_nearer(TensorMetric metric);

}  // namespace fiel
