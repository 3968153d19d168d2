#include "worker/engine_openvino.h"

#include <thread>

#include "worker/any_engine.h"

namespace fiel {

std::unique_ptr<Engine> engine_under_test() { return make_openvino_engine(); }

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using OpenVinoEngineTest = AnyEngine;

TEST_F(OpenVinoEngineTest, DescribesItself) {
  const Json hello = engine_->describe().value();
  EXPECT_EQ(hello["engine"], "openvino");
  EXPECT_THAT(hello["version"].get<std::string>(),
              ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(hello["devices"][0]["name"], "CPU");
  EXPECT_EQ(hello["float32_settings"]["INFERENCE_PRECISION_HINT"], "f32");
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

}  // namespace
}  // namespace fiel
