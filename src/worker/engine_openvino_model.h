// A model as OpenVINO reads it: what its inputs and outputs are called, and the shapes and batch it
// is fixed to before compiling.
#pragma once

#include <openvino/openvino.hpp>
#include <optional>
#include <string>
#include <vector>

#include "worker/engine.h"

namespace fiel {

std::optional<DType> to_dtype(const ov::element::Type& type);

/// The names that the model's author gave, in the order of the ports. Tensors that were merged
/// carry several names: for outputs the one that the graph's output had is meant.
EngineResult<std::vector<std::string>> port_names(const std::vector<ov::Output<ov::Node>>& ports);

/// Every port with dtype and shape; `unsupported` for element types that fiel does not carry.
EngineResult<std::vector<EnginePort>> describe_ports(
    const std::vector<ov::Output<const ov::Node>>& ports, const std::vector<std::string>& names);

/// Fixes the shapes as the settings `shape` and `batch` say.
EngineResult<> apply_shape(ov::Model& model, const std::vector<std::string>& input_names,
                           const BuildRequest& request);

}  // namespace fiel
