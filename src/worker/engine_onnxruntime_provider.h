// Whose kernels does a session run, and what is that provider told? Settings only: no ONNX Runtime is needed to know it. Private
// to engine_onnxruntime*.
#pragma once

#include <map>
#include <string>

#include "worker/engine.h"

namespace fiel {

inline constexpr std::string_view kProviderOption = "provider.";  // "provider.XNNPACK.intra_op_num_threads"

/// The setting `provider`, "CPU" if left out.
std::string provider_of(const Settings& settings);

/// Of "provider.CUDA.use_tf32=0" and provider=CUDA: use_tf32=0. What other providers would be told is left out.
using ProviderOptions = std::map<std::string, std::string>;
ProviderOptions provider_options(const Settings& settings);

}  // namespace fiel
