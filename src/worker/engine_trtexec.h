// TensorRT through the user's own `trtexec`, as an engine: a build, an inference and a block of timings are one process of
// that program each. Nothing of TensorRT or CUDA is linked or loaded here. docs/tensorrt.md is the page for users.
#pragma once

#include <filesystem>
#include <memory>

#include "worker/engine.h"

namespace fiel {

enum class Times { kMeasured, kComputed };  // computed: by a double of trtexec, so that nobody's load disturbs them

struct TrtexecOptions {
  std::filesystem::path program;       // empty: `trtexec` on PATH
  std::filesystem::path timing_cache;  // handed to every build; empty: none, so that no build depends on another
  Times times = Times::kMeasured;
};

std::unique_ptr<Engine> make_trtexec_engine(TrtexecOptions options);

}  // namespace fiel
