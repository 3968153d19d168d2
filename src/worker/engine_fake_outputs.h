// What the scripted engine computes: a function of the input bytes alone, and the ways in which it
// may be wrong.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/tensor.h"
#include "worker/engine_fake_script.h"

namespace fiel::fake {

using Tensors = std::map<std::string, Tensor>;

/// FNV-1a over names and bytes: the identity of a sample, for all that is drawn by sample.
std::uint64_t hash_inputs(const Tensors& inputs);

/// Right outputs of one sample. Inputs that are missing or of another dtype are kProtocol.
Result<Tensors> compute_outputs(const Script& script, const Tensors& inputs);

/// Applies one fault of those that change values, names, shapes or dtypes; others leave everything
/// as it is.
void spoil_outputs(const Fault& fault, std::uint64_t input_hash, Tensors& outputs);

}  // namespace fiel::fake
