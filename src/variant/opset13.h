// Lifts a graph of opset 11 or 12 to 13, where DequantizeLinear has an axis. Private to variant/.
#pragma once

#include "base/result.h"
#include "onnx-ml.pb.h"

namespace fiel {

/// Opsets from 13 on are left as they are; below 11 too much has changed (kContract).
Result<> lift_to_opset_13(onnx::ModelProto& model);

}  // namespace fiel
