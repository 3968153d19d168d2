// ONNX Runtime behind the engine seam. Its own headers stay in engine_onnxruntime*.cpp, and none of its code is linked: the
// library is loaded when the first request comes.
#pragma once

#include <filesystem>
#include <memory>

#include "worker/engine.h"

namespace fiel {

/// `library`: libonnxruntime.so to load; empty: the one in the project's virtual environment, else the system's.
std::unique_ptr<Engine> make_onnxruntime_engine(std::filesystem::path library);

}  // namespace fiel
