// The smallest model that is one: y = x. For what needs a model file but no network (the built-in loop of `fiel doctor`).
#pragma once

#include <filesystem>

#include "model/tensor.h"

namespace fiel {

/// float32, input "x" and output "y" of this fixed shape.
Result<> write_tiny_model(const std::filesystem::path& path, const Shape& shape);

}  // namespace fiel
