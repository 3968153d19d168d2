// Which files beside an ONNX file hold its large tensors, and whether they may. Private to model/:
// shows protobuf.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"

namespace onnx {
class ModelProto;
}

namespace fiel {

/// Sorted, each once, absolute. An error where one is missing, too short, or outside `folder` (also
/// by way of a link).
Result<std::vector<std::filesystem::path>> find_external_data(const onnx::ModelProto& model,
                                                              const std::filesystem::path& folder);

}  // namespace fiel
