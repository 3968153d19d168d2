// Which input shapes do the settings `shape` and `batch` ask a build for? Engine-neutral: the engine then fixes them, or says
// why it can't.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "worker/engine.h"

namespace fiel {

struct ModelInput {
  std::string name;
  std::optional<Shape> shape;  // -1: dynamic; nullopt: not even the number of axes is known
};

/// In the order of `inputs`.
EngineResult<std::vector<std::optional<Shape>>> wanted_shapes(const std::vector<ModelInput>& inputs,
                                                              const BuildRequest& request);

/// The setting `batch`, 1 if left out.
EngineResult<std::int64_t> batch_of(const Settings& settings);

}  // namespace fiel
