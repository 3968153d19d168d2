// What an OpenVINO IR says of its inputs and outputs: the .xml, without an engine. Operations and weights (the .bin beside it) are
// the engine's matter.
#pragma once

#include <string_view>

#include "model/onnx_model.h"

namespace fiel {

struct ModelPorts {
  std::vector<ModelPort> inputs, outputs;
};

/// Names are those by which OpenVINO knows the tensors. No XML, or no network with a named port: an error.
Result<ModelPorts> read_openvino_ir(std::string_view xml);

}  // namespace fiel
