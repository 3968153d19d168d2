#include "worker/engine_onnxruntime.h"

#include <thread>

#include "worker/any_engine.h"
#include "worker/engine_onnxruntime_placement.h"
#include "worker/engine_onnxruntime_profile.h"
#include "worker/engine_onnxruntime_provider.h"

namespace fiel {

std::unique_ptr<Engine> engine_under_test() { return make_onnxruntime_engine({}); }

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using OnnxRuntimeEngineTest = AnyEngine;

TEST_F(OnnxRuntimeEngineTest, DescribesItself) {
  const Json hello = engine_->describe().value();
  EXPECT_EQ(hello["engine"], "onnxruntime");
  EXPECT_THAT(hello["version"].get<std::string>(), ::testing::MatchesRegex("1\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(hello["devices"][0]["name"], "CPU");
  EXPECT_THAT(hello["devices"][0]["description"].get<std::string>(), HasSubstr("libonnxruntime.so"));
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

TEST(OnnxRuntimePlacement, AProviderThatTookNoNodeIsToldAsAFallBack) {
  SessionLog log;
  log.take(" Node(s) placed on [XnnpackExecutionProvider]. Number of nodes: 7");
  log.take(" Node(s) placed on [CPUExecutionProvider]. Number of nodes: 3");
  log.take("something else is placed on [");
  EXPECT_EQ(placement_of(log, "XNNPACK"), (std::map<std::string, int>{{"CPU, XnnpackExecutionProvider", 7}, {"CPU, CPUExecutionProvider", 3}}));
  log.placement.clear();
  EXPECT_TRUE(placement_of(log, "XNNPACK").empty());  // a version that does not log it tells nothing
  log.take(" All nodes placed on [CPUExecutionProvider]. Number of nodes: 12");
  const auto none = placement_of(log, "XNNPACK");
  ASSERT_EQ(none.size(), 1U);
  EXPECT_FALSE(none.begin()->first.starts_with("CPU")) << "fiel would take that for the device that was asked for";
  EXPECT_EQ(none.begin()->second, 12);
}

TEST(OnnxRuntimeProfile, SharesTimesOutOverInferencesAndFindsTheModelsOwnNames) {
  const auto times = times_in_profile(R"([{"cat":"Session","name":"model_run","dur":90},
    {"cat":"Node","name":"fused conv_1_nchwc_kernel_time","dur":30},{"cat":"Node","name":"soft max_kernel_time","dur":4},
    {"cat":"Session","name":"model_run","dur":80},{"cat":"Node","name":"fused conv_1_nchwc_kernel_time","dur":10}])");
  ASSERT_TRUE(times);
  ASSERT_EQ(times->size(), 2U);
  EXPECT_THAT(times->at(0).names, ElementsAre("conv_1"));
  EXPECT_DOUBLE_EQ(times->at(0).seconds, 20e-6);
  EXPECT_DOUBLE_EQ(times->at(1).seconds, 2e-6);
  EXPECT_FALSE(times_in_profile("[]"));
  EXPECT_FALSE(times_in_profile("{"));
}

// No test has a GPU: what CUDA and TensorRT would be told is as far as this goes.
TEST(OnnxRuntimeProvider, IsToldItsOwnOptionsAndNoOthers) {
  const Settings settings = {{"provider", "TensorRT"}, {"provider.TensorRT.trt_fp16_enable", "1"}, {"provider.CUDA.use_tf32", "0"},
                             {"intra_op_num_threads", "1"}};
  EXPECT_EQ(provider_of(settings), "TensorRT");
  EXPECT_EQ(provider_options(settings), (ProviderOptions{{"trt_fp16_enable", "1"}}));
  EXPECT_EQ(provider_options({{"provider", "CUDA"}, {"provider.CUDA.use_tf32", "0"}}), (ProviderOptions{{"use_tf32", "0"}}));
  EXPECT_EQ(provider_of({}), "CPU");
  EXPECT_TRUE(provider_options({{"provider.CUDA.use_tf32", "0"}}).empty());
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

}  // namespace
}  // namespace fiel
