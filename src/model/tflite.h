// What a TFLite model says of its inputs and outputs, without an engine: of its first subgraph, which is the one that is called.
#pragma once

#include <string_view>

#include "model/openvino_ir.h"

namespace fiel {

/// A file that is cut off or points outside itself is an error.
Result<ModelPorts> read_tflite(std::string_view bytes);

}  // namespace fiel
