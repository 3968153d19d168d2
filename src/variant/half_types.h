// Which of ONNX's operators run in float16 or bfloat16 wherever they take float32? Private to variant/.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "variant/rewriter.h"

namespace fiel {

/// All its float32 inputs may be halves at once.
bool takes_half(std::string_view op, HalfType type, std::int64_t opset);

/// Has the operator's output with this number the type that its floating inputs have? Nothing: the operator is not listed.
std::optional<bool> output_follows_inputs(std::string_view op, int number);

}  // namespace fiel
