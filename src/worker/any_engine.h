// What every engine's tests stand on: one engine that builds, loads and runs small models, and the tests that any engine must
// pass (any_engine_test.cpp), compiled into each engine's test program. For tests only.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/test_folder.h"
#include "worker/feed.h"
#include "worker/guard.h"
#include "worker/test_engine.h"

namespace fiel {

/// Each engine's test program says which one it is about.
std::unique_ptr<Engine> engine_under_test();

inline std::filesystem::path model_path(std::string_view name) {
  return std::filesystem::path(FIEL_TEST_MODELS) / fmt::format("{}.onnx", name);
}

class AnyEngine : public ::testing::Test {
 protected:
  EngineResult<BuildReport> build(std::string_view model, const Settings& settings = {},
                                  const std::vector<std::map<std::string, Shape>>& shapes = {}) {
    artifact_ = folder_ / fmt::format("artifact{}", ++builds_);
    std::filesystem::create_directory(artifact_);
    settings_ = settings;
    return guarded("internal", [&] {
      return engine_->build({.model = model_path(model),
                             .device = "CPU",
                             .settings = settings,
                             .shapes = shapes,
                             .artifact_dir = artifact_});
    });
  }
  EngineResult<LoadReport> load(std::string scenario = "single_stream", bool profile = false) {
    return engine_->load({.artifact_dir = artifact_,
                          .device = "CPU",
                          .settings = settings_,
                          .shapes = {},
                          .scenario = std::move(scenario),
                          .profile = profile});
  }
  void build_and_load(std::string_view model, const Settings& settings = {},
                      const std::vector<std::map<std::string, Shape>>& shapes = {}) {
    const auto built = build(model, settings, shapes);
    ASSERT_TRUE(built) << built.error().message;
    const auto loaded = load();
    ASSERT_TRUE(loaded) << loaded.error().message;
    report_ = *loaded;
  }
  std::vector<Tensor> infer(const std::vector<Tensor>& inputs, int slot = 0) {
    std::vector<TensorView> views;
    for (const Tensor& input : inputs) views.push_back(input.view());
    EXPECT_TRUE(engine_->prepare(slot, views));
    EXPECT_TRUE(engine_->run(slot));
    return engine_->outputs(slot).value();
  }
  std::string build_error(std::string_view model, const Settings& settings = {},
                          const std::vector<std::map<std::string, Shape>>& shapes = {}) {
    const auto built = build(model, settings, shapes);
    return built ? "no error" : built.error().reason + ": " + built.error().message;
  }

  TestFolder folder_;
  std::unique_ptr<Engine> engine_ = engine_under_test();
  std::filesystem::path artifact_;
  Settings settings_;
  LoadReport report_;
  int builds_ = 0;
};

}  // namespace fiel
