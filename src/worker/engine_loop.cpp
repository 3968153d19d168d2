#include "worker/engine_loop.h"

#include <array>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "worker/guard.h"

namespace fiel {
namespace {

constexpr auto kWidth = static_cast<std::size_t>(kLoopWidth);
constexpr int kLayers = 24;  // about a millisecond: long beside the clock, short beside the scheduler's slices

// Layers of y = W x, squashed so that all stays finite: 256 KiB of weights, which a core's own cache holds.
class LoopEngine : public Engine {
 public:
  EngineResult<Json> describe() override {
    return Json{{"engine", "loop"},
                {"version", "1"},
                {"devices", {{{"name", "CPU"}, {"description", "one core, plain arithmetic"}}}},
                {"cpu_features", Json::array()},
                {"capabilities", Json::array()},
                {"knobs", Json::array()},
                {"float32_settings", Json::object()}};
  }

  EngineResult<BuildReport> build(const BuildRequest& request) override {
    FIEL_TRY_REQUEST(write_atomic(request.artifact_dir / "loop", "version 1\n"));
    return BuildReport{.build_seconds = 0, .effective = {}, .precisions = {{"f32", kLayers}}, .placement = {{"CPU", kLayers}},
                       .graph_digest = "loop 1", .ignored = {}};
  }

  EngineResult<LoadReport> load(const LoadRequest&) override {
    weights_.resize(kWidth * kWidth);
    std::uint32_t state = 1;
    for (float& weight : weights_) {
      state = state * 1664525U + 1013904223U;  // Numerical Recipes' generator: any spread of values will do
      weight = static_cast<float>(state >> 8U) / static_cast<float>(1U << 24U) - 0.5F;
    }
    LoadReport report;
    report.inputs = {{.name = "x", .dtype = DType::kFloat32, .shape = {1, kLoopWidth}}};
    report.outputs = {{.name = "y", .dtype = DType::kFloat32, .shape = {1, kLoopWidth}}};
    return report;
  }

  EngineResult<> prepare(int, const std::vector<TensorView>& inputs) override {
    if (inputs.size() != 1 || inputs[0].bytes.size() != sizeof x_) {
      return engine_fail("bad_request", "the loop takes one input of float32 [1, 256]");
    }
    std::memcpy(x_.data(), inputs[0].bytes.data(), sizeof x_);
    return {};
  }

  EngineResult<> run(int) override {
    y_ = x_;
    for (int layer = 0; layer < kLayers; ++layer) {
      std::array<float, kWidth> next{};
      for (std::size_t row = 0; row < kWidth; ++row) {
        float sum = 0;
        for (std::size_t i = 0; i < kWidth; ++i) sum += weights_[row * kWidth + i] * y_[i];
        next[row] = sum / (1 + std::abs(sum));
      }
      y_ = next;
    }
    return {};
  }
  EngineResult<> start(int slot) override { return run(slot); }
  EngineResult<> wait(int) override { return {}; }

  EngineResult<std::vector<Tensor>> outputs(int) override {
    Tensor y{.dtype = DType::kFloat32, .shape = {1, kLoopWidth}, .bytes = {}};
    y.bytes.resize(sizeof y_);
    std::memcpy(y.bytes.data(), y_.data(), sizeof y_);
    return std::vector<Tensor>{std::move(y)};
  }

 private:
  std::vector<float> weights_;
  std::array<float, kWidth> x_{}, y_{};
};

}  // namespace

std::unique_ptr<Engine> make_loop_engine() { return std::make_unique<LoopEngine>(); }

}  // namespace fiel
