// For tests only: an engine of a few lines. Its model is y = 2 x + h, h_out = h + 1, where h is
// only there if asked for.
#pragma once

#include <cstdio>
#include <cstring>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "protocol/message.h"
#include "worker/engine.h"
#include "worker/guard.h"

namespace fiel {

inline Tensor floats(Shape shape, const std::vector<float>& values) {
  Tensor tensor{.dtype = DType::kFloat32, .shape = std::move(shape), .bytes = {}};
  tensor.bytes.resize(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

inline std::vector<float> values(const TensorView& tensor) {
  std::vector<float> numbers(tensor.bytes.size() / sizeof(float));
  if (!numbers.empty()) std::memcpy(numbers.data(), tensor.bytes.data(), tensor.bytes.size());
  return numbers;
}

class TestEngine : public Engine {
 public:
  explicit TestEngine(int slot_count = 1) : slots_(static_cast<std::size_t>(slot_count)) {}

  LoadReport report() const {
    LoadReport report;
    report.inputs = {{.name = "x", .dtype = DType::kFloat32, .shape = {-1, 2}}};
    report.outputs = {{.name = "y/0", .dtype = DType::kFloat32, .shape = {-1, 2}}};
    if (has_state) {
      report.inputs.push_back({.name = "h", .dtype = DType::kFloat32, .shape = {1}});
      report.outputs.push_back({.name = "h_out", .dtype = DType::kFloat32, .shape = {1}});
    }
    report.parallel_requests = static_cast<int>(slots_.size());
    return report;
  }

  EngineResult<Json> describe() override {
    std::printf("engines print\n");
    std::fflush(stdout);
    return Json{{"engine", "test"}, {"version", "1"}};
  }
  EngineResult<BuildReport> build(const BuildRequest& request) override {
    if (request.settings.contains("bad")) return engine_fail("unsupported", "no such setting: bad");
    return BuildReport{.build_seconds = 0.5,
                       .effective = request.settings,
                       .precisions = {{"f32", 3}},
                       .placement = {},
                       .graph_digest = "ab",
                       .ignored = {"k"}};
  }
  EngineResult<LoadReport> load(const LoadRequest&) override { return report(); }

  EngineResult<> prepare(int slot, const std::vector<TensorView>& inputs) override {
    Slot& s = at(slot);
    s.x = values(inputs[0]);
    s.shape = inputs[0].shape;
    s.h = has_state ? values(inputs[1])[0] : 0.0F;
    return {};
  }
  EngineResult<> run(int slot) override {
    if (on_run) on_run(slot, at(slot).x[0]);
    const std::lock_guard lock(mutex_);
    ran.push_back({slot, at(slot).x[0]});
    return {};
  }
  EngineResult<> start(int slot) override { return run(slot); }
  EngineResult<> wait(int) override { return {}; }
  EngineResult<std::vector<Tensor>> outputs(int slot) override {
    Slot& s = at(slot);
    std::vector<float> y;
    for (const float x : s.x) y.push_back(2 * x + s.h);
    std::vector<Tensor> tensors{floats(s.shape, y)};
    if (has_state) tensors.push_back(floats({1}, {s.h + 1}));
    return tensors;
  }

  EngineResult<std::vector<NodeTime>> profile() override {
    if (node_times.empty()) return Engine::profile();
    return node_times;
  }
  SelfTimed* self_timed() override { return timer; }

  struct Run {
    int slot;
    float first_value;
  };
  bool has_state = false;
  std::vector<NodeTime> node_times;
  std::function<void(int slot, float first_value)> on_run;  // may throw
  std::vector<Run> ran;
  SelfTimed* timer = nullptr;

 private:
  struct Slot {
    Shape shape;
    std::vector<float> x;
    float h = 0;
  };
  Slot& at(int slot) { return slots_.at(static_cast<std::size_t>(slot)); }

  std::vector<Slot> slots_;
  std::mutex mutex_;
};

/// A pack file in the making, and the samples that lie in it.
class TestPack {
 public:
  explicit TestPack(std::filesystem::path path) : path_(std::move(path)) {}

  TensorFile add(const Tensor& tensor) {
    const TensorFile place{.file = path_,
                           .offset = static_cast<std::int64_t>(bytes_.size()),
                           .dtype = tensor.dtype,
                           .shape = tensor.shape};
    bytes_.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    bytes_.resize((bytes_.size() + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment);
    std::FILE* file = std::fopen(path_.c_str(), "wb");
    std::fwrite(bytes_.data(), 1, bytes_.size(), file);
    std::fclose(file);
    return place;
  }

 private:
  std::filesystem::path path_;
  std::string bytes_;
};

}  // namespace fiel
