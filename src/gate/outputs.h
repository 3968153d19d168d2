// What did an engine answer for one sample, and are those the outputs that were expected? Names, dtypes and shapes
// only; values are compare.h's business.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "gate/compare.h"
#include "model/tensor.h"

namespace fiel {

struct SampleOutputs {
  int index = 0;  // of the sample in its set
  std::map<std::string, Tensor> tensors;
};

/// Outputs by name, owned by somebody else.
using OutputViews = std::map<std::string, TensorView>;
OutputViews views_of(const SampleOutputs& sample);

/// SHA-256 over names, dtypes, shapes and bytes: equal digests are equal outputs, bit for bit.
std::string output_digest(const SampleOutputs& sample);

/// Are these the reference's outputs, bit for bit? Then there is nothing to judge in them.
bool has_bits_of(const OutputViews& reference, const SampleOutputs& sample);

inline constexpr std::string_view kReferenceBits = "reference";

/// A name for a sample's output bits: kReferenceBits where they are the reference's, else output_digest.
std::string name_of_bits(const OutputViews& reference, const SampleOutputs& sample);

struct OutputFault {
  std::string output;
  std::string message;  // "output y is missing; the candidate gave z"
};

/// The first output that is missing, extra, of another dtype or of another shape than the reference's.
std::optional<OutputFault> find_output_fault(const OutputViews& reference,
                                             const OutputViews& candidate);

/// "a, b" or "none".
std::string names_of(const OutputViews& outputs);

}  // namespace fiel
