// ONNX's numbers for element types against ours. Private to model/.
#pragma once

#include <optional>
#include <string>

#include "model/tensor.h"

namespace fiel {

std::optional<DType> dtype_of_onnx(int type);
std::string onnx_type_name(int type);  // "float", "int4", "#99"

}  // namespace fiel
