// One tensor in ONNX's own file format, as in test_data_set_0/input_0.pb. Hides protobuf.
#pragma once

#include <filesystem>
#include <string>

#include "model/tensor.h"

namespace fiel {

struct NamedTensor {
  std::string name;  // may be empty
  Tensor tensor;
};

Result<NamedTensor> read_onnx_tensor(const std::filesystem::path& path);

}  // namespace fiel
