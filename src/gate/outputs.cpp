#include "gate/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/digest.h"

namespace fiel {

OutputViews views_of(const SampleOutputs& sample) {
  OutputViews views;
  for (const auto& [name, tensor] : sample.tensors) views.emplace(name, tensor.view());
  return views;
}

std::string output_digest(const SampleOutputs& sample) {
  Sha256 digest;
  for (const auto& [name, tensor] : sample.tensors) {
    digest.field(name).field(to_string(tensor.dtype)).field(to_string(tensor.shape));
    digest.update(tensor.bytes);  // how many there are follows from dtype and shape
  }
  return digest.hex();
}

bool has_bits_of(const OutputViews& reference, const SampleOutputs& sample) {
  return std::ranges::equal(reference, sample.tensors, [](const auto& expected, const auto& given) {
    const auto& [name, view] = expected;
    const auto& [given_name, tensor] = given;
    return name == given_name && view.dtype == tensor.dtype && view.shape == tensor.shape &&
           view.bytes.size() == tensor.bytes.size() &&
           (view.bytes.empty() || std::memcmp(view.bytes.data(), tensor.bytes.data(), view.bytes.size()) == 0);
  });
}

std::string name_of_bits(const OutputViews& reference, const SampleOutputs& sample) {
  return has_bits_of(reference, sample) ? std::string(kReferenceBits) : output_digest(sample);
}

std::string names_of(const OutputViews& outputs) {
  std::string names;
  for (const auto& [name, view] : outputs) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

std::optional<OutputFault> find_output_fault(const OutputViews& reference,
                                             const OutputViews& candidate) {
  for (const auto& [name, expected] : reference) {
    const auto found = candidate.find(name);
    if (found == candidate.end()) {
      return OutputFault{name, fmt::format("output {} is missing; the candidate gave {}", name,
                                           names_of(candidate))};
    }
    const TensorView& given = found->second;
    if (given.dtype != expected.dtype) {
      return OutputFault{name, fmt::format("output {} is {} instead of {}", name,
                                           to_string(given.dtype), to_string(expected.dtype))};
    }
    if (given.shape != expected.shape || given.bytes.size() != expected.bytes.size()) {
      return OutputFault{name,
                         fmt::format("output {} has shape {} ({} bytes) instead of {} ({} bytes)",
                                     name, to_string(given.shape), given.bytes.size(),
                                     to_string(expected.shape), expected.bytes.size())};
    }
  }
  for (const auto& [name, view] : candidate) {
    if (reference.contains(name)) continue;
    return OutputFault{name, fmt::format("output {} is extra; the reference gives {}", name,
                                         names_of(reference))};
  }
  return std::nullopt;
}

}  // namespace fiel
