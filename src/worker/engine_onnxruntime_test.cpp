#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <thread>
#include <tuple>

#include "model/test_folder.h"
#include "worker/engine_onnxruntime.h"
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

class OnnxRuntimeEngineTest : public ::testing::Test {
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
  std::unique_ptr<Engine> engine_ = make_onnxruntime_engine({});
  std::filesystem::path artifact_;
  Settings settings_;
  LoadReport report_;
  int builds_ = 0;
};

TEST_F(OnnxRuntimeEngineTest, DescribesItself) {
  const Json hello = engine_->describe().value();
  EXPECT_EQ(hello["engine"], "onnxruntime");
  EXPECT_THAT(hello["version"].get<std::string>(), ::testing::MatchesRegex("1\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(hello["devices"][0]["name"], "CPU");
  EXPECT_THAT(hello["devices"][0]["description"].get<std::string>(), HasSubstr("libonnxruntime.so"));
}

TEST_F(OnnxRuntimeEngineTest, TakesEveryValueThatItOffers) {
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

TEST_F(OnnxRuntimeEngineTest, ComputesAndNamesSeveralOutputs) {
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

TEST_F(OnnxRuntimeEngineTest, PassesEveryDtypeThroughUnchanged) {
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

TEST_F(OnnxRuntimeEngineTest, GivesOutputsOfEveryDtype) {
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

TEST_F(OnnxRuntimeEngineTest, TakesOneShapeAfterAnother) {
  build_and_load("dynamic_image");
  EXPECT_EQ(infer({floats({1, 3, 4, 6}, std::vector<float>(72, 1.0F))})[0].shape,
            (Shape{1, 8, 2, 3}));
  EXPECT_EQ(infer({floats({2, 3, 8, 2}, std::vector<float>(96, 1.0F))})[0].shape,
            (Shape{2, 8, 4, 1}));
  EXPECT_EQ(infer({floats({1, 3, 4, 6}, std::vector<float>(72, 1.0F))})[0].shape,
            (Shape{1, 8, 2, 3}));
}

TEST_F(OnnxRuntimeEngineTest, TakesScalarsAndTensorsWithoutElements) {
  build_and_load("scalar");
  const std::vector<Tensor> scalar = infer({floats({}, {41})});
  EXPECT_EQ(scalar[0].shape, Shape{});
  EXPECT_THAT(values(scalar[0].view()), ElementsAre(42));
  build_and_load("empty");
  const std::vector<Tensor> none = infer({floats({0, 4}, {})});
  EXPECT_EQ(none[0].shape, (Shape{0, 4}));
  EXPECT_THAT(values(infer({floats({1, 4}, {1, 2, 3, 4})})[0].view()), ElementsAre(2, 4, 6, 8));
}

TEST_F(OnnxRuntimeEngineTest, CopiesItsInputs) {
  build_and_load("two_outputs");
  Tensor x = floats({1, 8}, {1, 0, 0, 0, 0, 0, 0, 0});
  ASSERT_TRUE(engine_->prepare(0, {x.view()}));
  x.bytes.assign(x.bytes.size(), std::byte{0});
  ASSERT_TRUE(engine_->run(0));
  EXPECT_THAT(values(engine_->outputs(0).value()[0].view()), ElementsAre(1));
}

TEST_F(OnnxRuntimeEngineTest, FixesTheShapeAndTheBatch) {
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

TEST_F(OnnxRuntimeEngineTest, SaysWhyAShapeOrABatchCannotBe) {
  const std::map<std::string, Shape> one{{"image", {1, 3, 4, 6}}}, other{{"image", {1, 3, 8, 8}}};
  EXPECT_THAT(build_error("dynamic_image", {{"shape", "static"}}, {one, other}),
              HasSubstr("unsupported: shape=static needs one traffic shape, there are 2"));
  EXPECT_THAT(build_error("dynamic_image", {{"shape", "static"}}, {{{"picture", {1}}}}),
              HasSubstr("\"shapes\" says nothing of input \"image\""));
  EXPECT_THAT(build_error("dynamic_image", {{"shape", "static"}}, {{{"image", {1, 3}}}}),
              HasSubstr("build_error: input \"image\" has 4 axes"));
  EXPECT_THAT(build_error("scalar", {{"batch", "2"}}),
              HasSubstr("unsupported: batch=2: input \"x\" is a scalar"));
  EXPECT_THAT(build_error("scalar", {{"batch", "0"}}), HasSubstr("unsupported"));
}

// ONNX Runtime does not look at it before it runs.
TEST_F(OnnxRuntimeEngineTest, FailsWhenItRunsWhatCannotBeBatched) {
  build_and_load("fixed_batch", {{"batch", "2"}});
  const Tensor x = floats({2, 6}, std::vector<float>(12, 1.0F));
  ASSERT_TRUE(engine_->prepare(0, {x.view()}));
  const auto ran = engine_->run(0);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().reason, "unsupported");
  EXPECT_THAT(ran.error().message, HasSubstr("reshape"));
}

TEST_F(OnnxRuntimeEngineTest, SaysWhatItDoesNotTake) {
  EXPECT_THAT(build_error("strings"), HasSubstr("unsupported: "));
  EXPECT_THAT(build_error("unknown_operator"), HasSubstr("Frobnicate"));
  EXPECT_THAT(build_error("there_is_no_such_model"), HasSubstr("bad_request: "));
  EXPECT_THAT(build_error("tiny_mlp", {{"NO_SUCH_KNOB", "1"}}), HasSubstr("unsupported: NO_SUCH_KNOB"));
  EXPECT_THAT(build_error("tiny_mlp", {{"graph_optimization_level", "most"}}), HasSubstr("unsupported: "));
  EXPECT_THAT(build_error("tiny_mlp", {{"intra_op_num_threads", "-1"}}), HasSubstr("unsupported: "));
  const auto broken = folder_.write("broken.onnx", "this is no model");
  EXPECT_EQ(engine_->build({.model = broken, .device = "CPU", .settings = {}, .shapes = {}, .artifact_dir = folder_.path()})
                .error().reason,
            "unsupported");
  EXPECT_EQ(engine_->build({.model = broken, .device = "GPU", .settings = {}, .shapes = {}, .artifact_dir = {}})
                .error().reason,
            "unsupported");
}

TEST_F(OnnxRuntimeEngineTest, ReadsBackWhatItReallyDoes) {
  const auto built = build("small_cnn", {{"intra_op_num_threads", "3"}});
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_EQ(built->effective.at("intra_op_num_threads"), "3");
  EXPECT_EQ(built->effective.at("shape"), "dynamic");
  EXPECT_GE(built->precisions.at("f32"), 4);
  EXPECT_GE(built->placement.at("CPU"), 4);
  EXPECT_EQ(build("small_cnn")->graph_digest, built->graph_digest);
  const auto plain = build("small_cnn", {{"graph_optimization_level", "none"}});
  EXPECT_NE(plain->graph_digest, built->graph_digest);
  EXPECT_GT(plain->placement.at("CPU"), built->placement.at("CPU")) << "its operators are not fused";
  EXPECT_NE(build("tiny_mlp")->graph_digest, build("slow_matmul")->graph_digest);
}

// The file that is loaded holds the optimised graph: nothing is left to be optimised, and the answers are the same.
TEST_F(OnnxRuntimeEngineTest, LoadsTheGraphThatItOptimised) {
  const Tensor image = floats({1, 3, 32, 32}, std::vector<float>(3072, 0.25F));
  build_and_load("small_cnn");
  EXPECT_TRUE(std::filesystem::exists(artifact_ / "optimized.onnx"));
  const std::vector<Tensor> optimised = infer({image});
  build_and_load("small_cnn", {{"graph_optimization_level", "none"}});
  const std::vector<Tensor> plain = infer({image});
  for (int i = 0; i < 10; ++i) EXPECT_NEAR(element(optimised[0].view(), i), element(plain[0].view(), i), 1e-6);
}

TEST_F(OnnxRuntimeEngineTest, RunsAModelWithExternalWeightsFromItsArtifactAlone) {
  build_and_load("tiny_mlp_external");
  const Tensor x = floats({1, 16}, std::vector<float>(16, 0.5F));
  const std::vector<Tensor> external = infer({x});
  build_and_load("tiny_mlp");
  EXPECT_EQ(infer({x})[0].bytes, external[0].bytes);
}

TEST_F(OnnxRuntimeEngineTest, RunsSeveralRequestsSideBySide) {
  ASSERT_TRUE(build("slow_matmul", {{"parallel_requests", "2"}, {"intra_op_num_threads", "1"}}));
  EXPECT_EQ(load("single_stream")->parallel_requests, 1);
  ASSERT_EQ(load("offline")->parallel_requests, 2);
  const Tensor a = floats({1, 512}, std::vector<float>(512, 0.1F));
  const Tensor b = floats({1, 512}, std::vector<float>(512, -0.2F));
  const std::vector<Tensor> alone_a = infer({a}, 0), alone_b = infer({b}, 1);
  ASSERT_TRUE(engine_->prepare(0, {a.view()}));
  ASSERT_TRUE(engine_->prepare(1, {b.view()}));
  {
    std::jthread other([&] { EXPECT_TRUE(engine_->start(1)); });
    EXPECT_TRUE(engine_->start(0));
  }
  ASSERT_TRUE(engine_->wait(1));
  ASSERT_TRUE(engine_->wait(0));
  EXPECT_EQ(engine_->outputs(0).value()[0].bytes, alone_a[0].bytes);
  EXPECT_EQ(engine_->outputs(1).value()[0].bytes, alone_b[0].bytes);
}

TEST_F(OnnxRuntimeEngineTest, SaysWhichSettingsHaveNothingToActOn) {
  const auto built = build("small_cnn", {{"intra_op_num_threads", "1"}, {"session.intra_op.allow_spinning", "0"}});
  ASSERT_TRUE(built);
  EXPECT_EQ(built->effective.at("session.intra_op.allow_spinning"), "no pool");
  const auto pinned = build("small_cnn", {{"intra_op_num_threads", "2"}, {"intra_op_thread_affinities", "pinned"}});
  ASSERT_TRUE(pinned);
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core";
  const auto loose = build("small_cnn", {{"intra_op_num_threads", "2"}});
  EXPECT_NE(pinned->effective.at("intra_op_thread_affinities"), loose->effective.at("intra_op_thread_affinities"));
}

TEST_F(OnnxRuntimeEngineTest, RefusesAnArtifactThatIsNone) {
  artifact_ = folder_.path();
  EXPECT_EQ(load().error().reason, "bad_request");
  folder_.write("load.json", R"({"file":"optimized.onnx","graph_digest":"","inputs":["x"],"outputs":["y"]})");
  EXPECT_EQ(load().error().reason, "bad_request");
  folder_.write("optimized.onnx", "garbage");
  const auto loaded = guarded("internal", [&] { return load(); });
  EXPECT_FALSE(loaded);
}

TEST(OnnxRuntimeWorker, AnswersHelloFromAnywhereAndKeepsItsOutputClean) {
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

TEST(OnnxRuntimeLibrary, IsLookedForWhereItIsNamed) {
  const TestFolder folder;
  const auto none = make_onnxruntime_engine(folder.path() / "libonnxruntime.so")->describe();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().reason, "unsupported");
  EXPECT_THAT(none.error().message, HasSubstr("cannot load " + folder.path().string()));
  const auto other = make_onnxruntime_engine("libm.so.6")->describe();
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("is not ONNX Runtime"));
}

TEST(OnnxRuntimeWorker, SaysThatItIsAWorker) {
  std::FILE* pipe = ::popen(FIEL_WORKER " --help", "r");
  std::array<char, 4096> buffer{};
  std::ignore = std::fread(buffer.data(), 1, buffer.size() - 1, pipe);
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_THAT(std::string(buffer.data()), HasSubstr("docs/protocol.md"));
}

}  // namespace
}  // namespace fiel
