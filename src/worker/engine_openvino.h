// OpenVINO behind the engine seam. Its own headers stay in engine_openvino*.cpp.
#pragma once

#include <memory>

#include "worker/engine.h"

namespace fiel {

std::unique_ptr<Engine> make_openvino_engine();

}  // namespace fiel
