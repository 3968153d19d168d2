// What a session's profile says that its nodes took. Private to engine_onnxruntime*.
#pragma once

#include <string_view>
#include <vector>

#include "worker/engine.h"

namespace fiel {

/// `json`: the file that ONNX Runtime writes at the end of profiling, a list of events with microseconds. A node that the
/// optimiser made of another bears that one's name with more around it, which is taken off.
EngineResult<std::vector<NodeTime>> times_in_profile(std::string_view json);

}  // namespace fiel
