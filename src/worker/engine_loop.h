// An engine that is only a loop: a fixed amount of arithmetic on one core, whatever the model says. `fiel doctor` times it
// in real processes by the loop that times real engines, to learn how quiet a machine is without a model.
#pragma once

#include <memory>

#include "worker/engine.h"

namespace fiel {

inline constexpr std::int64_t kLoopWidth = 256;  // of its input and output, float32 [1, 256]

std::unique_ptr<Engine> make_loop_engine();

}  // namespace fiel
