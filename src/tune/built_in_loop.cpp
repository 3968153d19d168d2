#include "tune/built_in_loop.h"

#include <fmt/format.h>

#include <cstring>

#include "base/files.h"
#include "base/rng.h"
#include "model/npy.h"
#include "model/tiny_model.h"
#include "tune/workshop.h"

namespace fiel {
namespace {

constexpr std::int64_t kWidth = 256;  // worker/engine_loop.h: kLoopWidth
constexpr int kSamples = 8;

}  // namespace

Result<Contract> built_in_loop(const std::filesystem::path& folder) {
  const auto data = folder / "tuning";
  FIEL_TRY(ensure_folder(data));
  FIEL_TRY(write_tiny_model(folder / "model.onnx", {1, kWidth}));
  Rng rng(1);
  for (int sample = 0; sample < kSamples; ++sample) {
    Tensor x{.dtype = DType::kFloat32, .shape = {1, kWidth}, .bytes = {}};
    x.bytes.resize(static_cast<std::size_t>(kWidth) * sizeof(float));
    for (std::int64_t i = 0; i < kWidth; ++i) {
      const auto value = static_cast<float>(rng.uniform01());
      std::memcpy(x.bytes.data() + static_cast<std::size_t>(i) * sizeof value, &value, sizeof value);
    }
    FIEL_TRY(write_npz(data / fmt::format("s{}.npz", sample), {{"x", x.view()}}));
  }
  // Nobody opens the hold-out of a command that has no verdict on accuracy.
  std::string text = R"(fiel = 1
[model]
path = "model.onnx"
[data]
tuning  = "tuning"
holdout = "holdout"
[target]
engines = ["loop"]
[engines.loop]
worker = "WORKER"
[[accuracy.task]]
name      = "same"
evaluator = "embedding_cosine"
min_score = 0.9
)";
  const std::string worker = (program_folder() / "fiel-worker-loop").string();
  text.replace(text.find("WORKER"), 6, worker);
  return parse_contract(std::move(text), folder / "contract.toml");
}

}  // namespace fiel
