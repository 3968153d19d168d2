// Where is ONNX Runtime's library, and is it one that we can talk to? Knows nothing of models. Private to engine_onnxruntime*.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "worker/engine.h"

struct OrtApi;

namespace fiel {

struct OnnxRuntimeLibrary {
  std::filesystem::path path;
  std::string version;        // "1.32.0"
  int minor = 0;              // 32
  const OrtApi* api = nullptr;
};

/// Loads it into this process for good (engines do not survive being unloaded). `unsupported` says what was looked for and
/// what to do.
EngineResult<OnnxRuntimeLibrary> load_onnxruntime(const std::filesystem::path& named);

/// Where a Python environment keeps the library of its onnxruntime wheel; empty if it has none.
std::filesystem::path library_in_venv(const std::filesystem::path& venv);

}  // namespace fiel
