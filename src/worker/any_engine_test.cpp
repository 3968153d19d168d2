// What any engine must do; the programs' names and the models come from the engine's test program (src/programs.cmake).
#include "worker/any_engine.h"

#include <array>
#include <cstdio>
#include <tuple>

namespace fiel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST_F(AnyEngine, TakesEveryValueThatItOffers) {
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

TEST_F(AnyEngine, ComputesAndNamesSeveralOutputs) {
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

TEST_F(AnyEngine, PassesEveryDtypeThroughUnchanged) {
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

TEST_F(AnyEngine, GivesOutputsOfEveryDtype) {
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

TEST_F(AnyEngine, TakesOneShapeAfterAnother) {
  build_and_load("dynamic_image");
  EXPECT_EQ(infer({floats({1, 3, 4, 6}, std::vector<float>(72, 1.0F))})[0].shape,
            (Shape{1, 8, 2, 3}));
  EXPECT_EQ(infer({floats({2, 3, 8, 2}, std::vector<float>(96, 1.0F))})[0].shape,
            (Shape{2, 8, 4, 1}));
  EXPECT_EQ(infer({floats({1, 3, 4, 6}, std::vector<float>(72, 1.0F))})[0].shape,
            (Shape{1, 8, 2, 3}));
}

TEST_F(AnyEngine, TakesScalarsAndTensorsWithoutElements) {
  build_and_load("scalar");
  const std::vector<Tensor> scalar = infer({floats({}, {41})});
  EXPECT_EQ(scalar[0].shape, Shape{});
  EXPECT_THAT(values(scalar[0].view()), ElementsAre(42));
  build_and_load("empty");
  const std::vector<Tensor> none = infer({floats({0, 4}, {})});
  EXPECT_EQ(none[0].shape, (Shape{0, 4}));
  EXPECT_THAT(values(infer({floats({1, 4}, {1, 2, 3, 4})})[0].view()), ElementsAre(2, 4, 6, 8));
}

TEST_F(AnyEngine, TellsWhatItsNodesTook) {
  ASSERT_TRUE(build("small_cnn", {}, {{{"image", {1, 3, 32, 32}}}}));
  ASSERT_TRUE(load("single_stream", true));
  for (int i = 0; i < 3; ++i) infer({floats({1, 3, 32, 32}, std::vector<float>(3072, 1.0F))});
  const auto told = engine_->profile();
  ASSERT_TRUE(told) << told.error().message;
  std::map<std::string, double> seconds;
  for (const NodeTime& node : *told) {
    for (const std::string& name : node.names) seconds[name] += node.seconds;
  }
  for (const auto& [node, result] : {std::pair("conv1", "r1"), std::pair("conv2", "r2")}) {  // by its name, or by what it gives
    EXPECT_GT(seconds[node] + seconds[result], 0) << node;
    EXPECT_LT(seconds[node] + seconds[result], 1) << node;
  }
}

TEST_F(AnyEngine, CopiesItsInputs) {
  build_and_load("two_outputs");
  Tensor x = floats({1, 8}, {1, 0, 0, 0, 0, 0, 0, 0});
  ASSERT_TRUE(engine_->prepare(0, {x.view()}));
  x.bytes.assign(x.bytes.size(), std::byte{0});
  ASSERT_TRUE(engine_->run(0));
  EXPECT_THAT(values(engine_->outputs(0).value()[0].view()), ElementsAre(1));
}

TEST_F(AnyEngine, FixesTheShapeAndTheBatch) {
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

TEST_F(AnyEngine, RunsAModelWithExternalWeightsFromItsArtifactAlone) {
  build_and_load("tiny_mlp_external");
  const Tensor x = floats({1, 16}, std::vector<float>(16, 0.5F));
  const std::vector<Tensor> external = infer({x});
  build_and_load("tiny_mlp");
  EXPECT_EQ(infer({x})[0].bytes, external[0].bytes);
}

TEST(AnyEnginesWorker, AnswersHelloFromAnywhereAndKeepsItsOutputClean) {
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

TEST(AnyEnginesWorker, SaysThatItIsAWorker) {
  std::FILE* pipe = ::popen(FIEL_WORKER " --help", "r");
  std::array<char, 4096> buffer{};
  std::ignore = std::fread(buffer.data(), 1, buffer.size() - 1, pipe);
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_THAT(std::string(buffer.data()), HasSubstr("docs/protocol.md"));
}

}  // namespace
}  // namespace fiel
