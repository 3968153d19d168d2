#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <thread>
#include <tuple>

#include "model/test_folder.h"
#include "worker/engine_openvino.h"
#include "worker/feed.h"
#include "worker/test_engine.h"

namespace fiel {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::filesystem::path model_path(std::string_view name) {
  return std::filesystem::path(FIEL_TEST_MODELS) / fmt::format("{}.onnx", name);
}

class OpenVinoEngineTest : public ::testing::Test {
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
  EngineResult<LoadReport> load(std::string scenario = "single_stream") {
    return engine_->load({.artifact_dir = artifact_,
                          .device = "CPU",
                          .settings = settings_,
                          .shapes = {},
                          .scenario = std::move(scenario)});
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
  std::unique_ptr<Engine> engine_ = make_openvino_engine();
  std::filesystem::path artifact_;
  Settings settings_;
  LoadReport report_;
  int builds_ = 0;
};

TEST_F(OpenVinoEngineTest, DescribesItself) {
  const Json hello = engine_->describe().value();
  EXPECT_EQ(hello["engine"], "openvino");
  EXPECT_THAT(hello["version"].get<std::string>(),
              ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(hello["devices"][0]["name"], "CPU");
  EXPECT_EQ(hello["float32_settings"]["INFERENCE_PRECISION_HINT"], "f32");
}

TEST_F(OpenVinoEngineTest, TakesEveryValueThatItOffers) {
  const Json hello = engine_->describe().value();
  ASSERT_THAT(hello["knobs"], Not(IsEmpty()));
  for (const Json& knob : hello["knobs"]) {
    if (knob["kind"] == "environment") continue;
    for (const Json& value : knob["values"]) {
      const Settings settings{{knob["name"].get<std::string>(), value.get<std::string>()}};
      const auto built = build("small_cnn", settings, {{{"image", {1, 3, 32, 32}}}});
      ASSERT_TRUE(built) << knob["name"] << "=" << value << ": " << built.error().message;
      EXPECT_THAT(built->ignored, IsEmpty()) << knob["name"] << "=" << value;
      const auto loaded = load();
      ASSERT_TRUE(loaded) << knob["name"] << "=" << value << ": " << loaded.error().message;
      EXPECT_EQ(loaded->graph_digest, built->graph_digest) << knob["name"] << "=" << value;
      EXPECT_EQ(loaded->effective, built->effective) << knob["name"] << "=" << value;
    }
  }
}

TEST_F(OpenVinoEngineTest, ComputesAndNamesSeveralOutputs) {
  build_and_load("two_outputs");
  std::vector<std::string> names;
  for (const EnginePort& port : report_.outputs) names.push_back(port.name);
  EXPECT_THAT(names, ElementsAre("sum", "index", "renamed"));
  EXPECT_EQ(report_.inputs[0].shape, (Shape{-1, 8}));
  const Tensor x = floats({2, 8}, {0, 1, 2, 3, 9, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0});
  const std::vector<Tensor> outputs = infer({x});
  EXPECT_THAT(values(outputs[0].view()), ElementsAre(33, 8));
  EXPECT_EQ(outputs[1].dtype, DType::kInt64);
  EXPECT_EQ(integer_element(outputs[1].view(), 0), 4);
  EXPECT_EQ(outputs[2].bytes, x.bytes);
}

TEST_F(OpenVinoEngineTest, PassesEveryDtypeThroughUnchanged) {
  build_and_load("all_dtypes");
  ASSERT_THAT(report_.inputs, SizeIs(13));
  std::vector<Tensor> inputs;
  for (const EnginePort& port : report_.inputs) {
    Tensor tensor{.dtype = port.dtype, .shape = {3, 2}, .bytes = {}};
    // Small whole numbers of every type: 0 1 2 3 4 5 as bits, or booleans.
    for (int i = 0; i < 6; ++i) {
      std::vector<std::byte> element(element_size(port.dtype));
      element[0] = static_cast<std::byte>(port.dtype == DType::kBool ? i % 2 : 0);
      if (!is_floating(port.dtype))
        element[0] = static_cast<std::byte>(port.dtype == DType::kBool ? i % 2 : i);
      // A positive exponent byte at the top makes floating bits ordinary numbers.
      if (is_floating(port.dtype)) element.back() = static_cast<std::byte>(0x3c + i % 2);
      tensor.bytes.insert(tensor.bytes.end(), element.begin(), element.end());
    }
    inputs.push_back(std::move(tensor));
  }
  const std::vector<Tensor> outputs = infer(inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(outputs[i].dtype, inputs[i].dtype) << report_.outputs[i].name;
    EXPECT_EQ(outputs[i].shape, (Shape{3, 2})) << report_.outputs[i].name;
    EXPECT_EQ(outputs[i].bytes, inputs[i].bytes) << report_.outputs[i].name;
  }
}

TEST_F(OpenVinoEngineTest, GivesOutputsOfEveryDtype) {
  build_and_load("casts");
  const std::vector<Tensor> outputs = infer({floats({3}, {0, 1, 5})});
  ASSERT_THAT(outputs, SizeIs(12));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(outputs[i].dtype, report_.outputs[i].dtype);
    EXPECT_EQ(element(outputs[i].view(), 1), 1) << report_.outputs[i].name;
    EXPECT_EQ(element(outputs[i].view(), 2), outputs[i].dtype == DType::kBool ? 1 : 5)
        << report_.outputs[i].name;
  }
}

TEST_F(OpenVinoEngineTest, TakesOneShapeAfterAnother) {
  build_and_load("dynamic_image");
  EXPECT_EQ(infer({floats({1, 3, 4, 6}, std::vector<float>(72, 1.0F))})[0].shape,
            (Shape{1, 8, 2, 3}));
  EXPECT_EQ(infer({floats({2, 3, 8, 2}, std::vector<float>(96, 1.0F))})[0].shape,
            (Shape{2, 8, 4, 1}));
  EXPECT_EQ(infer({floats({1, 3, 4, 6}, std::vector<float>(72, 1.0F))})[0].shape,
            (Shape{1, 8, 2, 3}));
}

TEST_F(OpenVinoEngineTest, TakesScalarsAndTensorsWithoutElements) {
  build_and_load("scalar");
  const std::vector<Tensor> scalar = infer({floats({}, {41})});
  EXPECT_EQ(scalar[0].shape, Shape{});
  EXPECT_THAT(values(scalar[0].view()), ElementsAre(42));
  build_and_load("empty");
  const std::vector<Tensor> none = infer({floats({0, 4}, {})});
  EXPECT_EQ(none[0].shape, (Shape{0, 4}));
  EXPECT_THAT(values(infer({floats({1, 4}, {1, 2, 3, 4})})[0].view()), ElementsAre(2, 4, 6, 8));
}

TEST_F(OpenVinoEngineTest, CopiesItsInputs) {
  build_and_load("two_outputs");
  Tensor x = floats({1, 8}, {1, 0, 0, 0, 0, 0, 0, 0});
  ASSERT_TRUE(engine_->prepare(0, {x.view()}));
  x.bytes.assign(x.bytes.size(), std::byte{0});
  ASSERT_TRUE(engine_->run(0));
  EXPECT_THAT(values(engine_->outputs(0).value()[0].view()), ElementsAre(1));
}

TEST_F(OpenVinoEngineTest, FixesTheShapeAndTheBatch) {
  const std::vector<std::map<std::string, Shape>> shapes{{{"image", {1, 3, 4, 6}}}};
  build_and_load("dynamic_image", {{"shape", "static"}, {"batch", "4"}}, shapes);
  EXPECT_EQ(report_.inputs[0].shape, (Shape{4, 3, 4, 6}));
  EXPECT_EQ(report_.outputs[0].shape, (Shape{4, 8, 2, 3}));
  EXPECT_EQ(report_.effective.at("shape"), "static");
  build_and_load("tiny_mlp_static", {{"batch", "4"}});
  EXPECT_EQ(report_.inputs[0].shape, (Shape{4, 16}));
  build_and_load("tiny_mlp", {{"batch", "4"}});
  EXPECT_EQ(report_.inputs[0].shape, (Shape{-1, 16}));
}

TEST_F(OpenVinoEngineTest, SaysWhyAShapeOrABatchCannotBe) {
  const std::map<std::string, Shape> one{{"image", {1, 3, 4, 6}}}, other{{"image", {1, 3, 8, 8}}};
  EXPECT_THAT(build_error("dynamic_image", {{"shape", "static"}}, {one, other}),
              HasSubstr("unsupported: shape=static needs one traffic shape, there are 2"));
  EXPECT_THAT(build_error("dynamic_image", {{"shape", "static"}}, {{{"picture", {1}}}}),
              HasSubstr("\"shapes\" says nothing of input \"image\""));
  EXPECT_THAT(build_error("dynamic_image", {{"shape", "static"}}, {{{"image", {1, 3}}}}),
              HasSubstr("build_error: "));
  EXPECT_THAT(build_error("fixed_batch", {{"batch", "2"}}), HasSubstr("build_error: "));
  EXPECT_THAT(build_error("scalar", {{"batch", "2"}}),
              HasSubstr("unsupported: batch=2: input \"x\" is a scalar"));
  EXPECT_THAT(build_error("scalar", {{"batch", "0"}}), HasSubstr("unsupported"));
}

TEST_F(OpenVinoEngineTest, SaysWhatItDoesNotTake) {
  EXPECT_THAT(build_error("strings"), HasSubstr("unsupported: "));
  EXPECT_THAT(build_error("unknown_operator"), HasSubstr("Frobnicate"));
  EXPECT_THAT(build_error("there_is_no_such_model"), HasSubstr("bad_request: "));
  EXPECT_THAT(build_error("tiny_mlp", {{"NO_SUCH_PROPERTY", "1"}}), HasSubstr("unsupported: "));
  EXPECT_THAT(build_error("tiny_mlp", {{"PERFORMANCE_HINT", "SPEED"}}), HasSubstr("unsupported: "));
  EXPECT_THAT(build_error("tiny_mlp", {{"SNIPPETS_MODE", "PERHAPS"}}), HasSubstr("unsupported: "));
  const auto broken = folder_.write("broken.onnx", "this is no model");
  const auto built = engine_->build({.model = broken,
                                     .device = "CPU",
                                     .settings = {},
                                     .shapes = {},
                                     .artifact_dir = folder_.path()});
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().reason, "unsupported");
  EXPECT_EQ(
      engine_
          ->build(
              {.model = broken, .device = "GPU", .settings = {}, .shapes = {}, .artifact_dir = {}})
          .error()
          .reason,
      "unsupported");
}

TEST_F(OpenVinoEngineTest, ReadsBackWhatItReallyDoes) {
  const auto built =
      build("small_cnn", {{"INFERENCE_PRECISION_HINT", "f32"}, {"INFERENCE_NUM_THREADS", "4096"}});
  ASSERT_TRUE(built);
  EXPECT_EQ(built->effective.at("INFERENCE_PRECISION_HINT"), "f32");
  EXPECT_GE(built->precisions.at("f32"), 4);
  EXPECT_GE(built->placement.at("CPU"), 4);
  EXPECT_THAT(built->ignored, ElementsAre(HasSubstr("INFERENCE_NUM_THREADS=4096 ran as ")));
  EXPECT_EQ(build("small_cnn")->graph_digest, build("small_cnn")->graph_digest);
  EXPECT_NE(build("small_cnn", {{"SNIPPETS_MODE", "IGNORE_CALLBACK"}})->graph_digest,
            built->graph_digest);
  EXPECT_EQ(build("small_cnn", {{"LP_TRANSFORMS_MODE", "NO"}})->graph_digest, built->graph_digest);
}

TEST_F(OpenVinoEngineTest, RunsAModelWithExternalWeightsFromItsArtifactAlone) {
  build_and_load("tiny_mlp_external");
  const Tensor x = floats({1, 16}, std::vector<float>(16, 0.5F));
  const std::vector<Tensor> external = infer({x});
  build_and_load("tiny_mlp");
  EXPECT_EQ(infer({x})[0].bytes, external[0].bytes);
}

TEST_F(OpenVinoEngineTest, RunsSeveralRequestsSideBySide) {
  const auto built = build("slow_matmul", {{"NUM_STREAMS", "2"}});
  ASSERT_TRUE(built);
  const auto loaded = load("offline");
  ASSERT_TRUE(loaded);
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core, one stream";
  ASSERT_EQ(loaded->parallel_requests, 2);
  const Tensor a = floats({1, 512}, std::vector<float>(512, 0.1F));
  const Tensor b = floats({1, 512}, std::vector<float>(512, -0.2F));
  const std::vector<Tensor> alone_a = infer({a}, 0), alone_b = infer({b}, 1);
  ASSERT_TRUE(engine_->prepare(0, {a.view()}));
  ASSERT_TRUE(engine_->prepare(1, {b.view()}));
  ASSERT_TRUE(engine_->start(0));
  ASSERT_TRUE(engine_->start(1));
  ASSERT_TRUE(engine_->wait(1));
  ASSERT_TRUE(engine_->wait(0));
  EXPECT_EQ(engine_->outputs(0).value()[0].bytes, alone_a[0].bytes);
  EXPECT_EQ(engine_->outputs(1).value()[0].bytes, alone_b[0].bytes);
}

TEST_F(OpenVinoEngineTest, RefusesAnArtifactThatIsNone) {
  artifact_ = folder_.path();
  EXPECT_EQ(load().error().reason, "bad_request");
  folder_.write("load.json", R"({"file":"compiled.blob","inputs":["x"],"outputs":["y"]})");
  EXPECT_EQ(load().error().reason, "bad_request");
  folder_.write("compiled.blob", "garbage");
  const auto loaded = guarded("internal", [&] { return load(); });
  EXPECT_FALSE(loaded);
}

TEST(OpenVinoWorker, AnswersHelloFromAnywhereAndKeepsItsOutputClean) {
  std::FILE* pipe = ::popen(
      "cd / && echo '{\"id\":1,\"type\":\"hello\",\"protocol\":1}' | " FIEL_WORKER " 2>/dev/null",
      "r");
  ASSERT_NE(pipe, nullptr);
  std::string text;
  std::array<char, 4096> buffer;
  for (std::size_t count; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    text.append(buffer.data(), count);
  }
  EXPECT_EQ(::pclose(pipe), 0);
  const Json hello = Json::parse(text, nullptr, false);
  ASSERT_FALSE(hello.is_discarded()) << text;
  EXPECT_EQ(hello["type"], "result");
}

TEST(OpenVinoWorker, SaysThatItIsAWorker) {
  std::FILE* pipe = ::popen(FIEL_WORKER " --help", "r");
  std::array<char, 4096> buffer{};
  std::ignore = std::fread(buffer.data(), 1, buffer.size() - 1, pipe);
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_THAT(std::string(buffer.data()), HasSubstr("docs/protocol.md"));
}

}  // namespace
}  // namespace fiel
