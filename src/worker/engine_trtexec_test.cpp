#include "worker/engine_trtexec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "embedded/trtexec_knobs.h"
#include "model/test_folder.h"
#include "model/tiny_model.h"
#include "worker/engine_trtexec_arguments.h"
#include "worker/engine_trtexec_files.h"
#include "worker/engine_trtexec_timing.h"
#include "worker/engine_trtexec_words.h"
#include "worker/test_engine.h"

namespace fiel::trtexec {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST(TrtexecWords, VersionsHaveTwoWaysOfBeingCounted) {
  EXPECT_EQ(dotted(*version_in("&&&& RUNNING TensorRT.trtexec [TensorRT v110100] [b106] # trtexec --help")), "11.1.0");
  EXPECT_EQ(dotted(*version_in("&&&& RUNNING TensorRT.trtexec [TensorRT v101303] # trtexec")), "10.13.3");
  EXPECT_EQ(dotted(*version_in("&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec")), "8.6.1");
  EXPECT_FALSE(version_in("bash: trtexec: command not found"));
}

TEST(TrtexecWords, OptionsAreReadFromTheHelpAndNotFromItsProse) {
  const auto options = options_in(
      "=== Build Options ===\n"
      "  --minShapes=spec       Build with dynamic shapes\n"
      "  --versionCompatible, --vc   Mark the engine. See --outputIOFormats\n"
      "  --useDLACore=N         Select\n");
  EXPECT_THAT(options, ElementsAre("minShapes", "useDLACore", "vc", "versionCompatible"));
}

TEST(TrtexecWords, DeviceMemoryAndBuildTimeAreReadWhereTheyAreSaid) {
  const std::string log =
      "[I] Selected Device: NVIDIA H200\n[I] Selected Device ID: 0\n[I] Compute Capability: 9.0\n"
      "[I] [TRT] [MemUsageStats] Peak memory usage of TRT CPU/GPU memory allocators: CPU 2 MiB, GPU 171 MiB\n"
      "[I] [TRT] [MemUsageChange] Init cuDNN: CPU +0, GPU +8, now: CPU 904, GPU 3324 (MiB)\n"
      "[I] [TRT] [MemUsageChange] TensorRT-managed allocation in IExecutionContext creation: CPU +0, GPU +80, now: CPU 0, GPU 266 (MiB)\n"
      "[I] Engine built in 184.708 sec.\n";
  EXPECT_EQ(device_in(log)->name, "NVIDIA H200");
  EXPECT_EQ(device_in(log)->capability, "9.0");
  EXPECT_EQ(device_memory_bytes_in(log), std::int64_t{266} << 20);  // the 3324 are everybody's
  EXPECT_DOUBLE_EQ(*build_seconds_in(log), 184.708);
  EXPECT_FALSE(device_in("Cannot find any available devices (GPUs)!"));
  EXPECT_FALSE(device_memory_bytes_in("nothing said"));
}

TEST(TrtexecWords, DumpedOutputsAreReadFromTheRight) {
  const auto dumped = outputs_dumped_in(
      "[I] Writing file for input binding x (with datatype fp32 and dimensions 1.3) to x.input.1.3.fp32.raw\n"
      "[I] Writing file for output binding a (with datatype b) to c (with datatype int64 and dimensions ) to a.output..int64.raw\n"
      "[I] Writing file for output binding y (with datatype fp32 and dimensions 1.10) to y.output.1.10.fp32.raw\n");
  ASSERT_THAT(dumped, SizeIs(2));
  EXPECT_EQ(dumped[0].name, "a (with datatype b) to c");
  EXPECT_EQ(dumped[0].shape, Shape{});
  EXPECT_EQ(dumped[1].file, "y.output.1.10.fp32.raw");
  EXPECT_EQ(dumped[1].shape, (Shape{1, 10}));
}

TEST(TrtexecWords, EndsAreToldApart) {
  const ExitState failed{.status = 1, .signal = {}}, killed{.status = {}, .signal = 11};
  EXPECT_EQ(error_of(failed, "[E] Unknown option: --fp16 ").reason, "unsupported");
  EXPECT_EQ(error_of(failed, "[E] [TRT] ... [8] UNSUPPORTED_NODE: no").reason, "unsupported");
  EXPECT_EQ(error_of(failed, "[E] [TRT] Error Code 2: OutOfMemory (no further information)").reason, "out_of_memory");
  EXPECT_EQ(error_of(killed, "").reason, "build_error");
  EXPECT_THAT(error_of(killed, "").message, HasSubstr("signal 11"));
  EXPECT_THAT(error_of(failed, "[I] fine\n[12:00] [E] Engine set up failed\n").message, AllOf(HasSubstr("set up failed"), Not(HasSubstr("fine"))));
}

TEST(TrtexecRoutes, KnobsComeFromTheDatabaseAndOpenSetsAreLeftOut) {
  const auto found = read_route_knobs(
      "&&&& RUNNING TensorRT.trtexec [TensorRT v110100] # x\n{\"tuner_version\":\"2.17.83\",\"tuner_options\":["
      R"({"option":"-kgen:tiling","allowed_values":"-kgen:tiling=[0| 1 |2]","default_value":"2","help":"Tiles."},)"
      R"({"option":"-limit","allowed_values":"-limit=int32_t","default_value":"5","help":"A number."},)"
      R"({"option":"-range","allowed_values":"-range=[0|...|9]","default_value":"0"},)"
      R"({"option":"-odd","allowed_values":"-odd=[a|b]","default_value":"c"},)"
      R"({"option":"-kgen:tiling","allowed_values":"-kgen:tiling=[0|2]","default_value":"2"}, 7]})"
      "\n");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->tuner_version, "2.17.83");
  ASSERT_THAT(found->knobs, SizeIs(1));
  EXPECT_EQ(found->knobs[0].name, "route.kgen:tiling");
  EXPECT_THAT(found->knobs[0].values, ElementsAre("0", "1", "2"));
  EXPECT_EQ(found->knobs[0].default_value, "2");
  EXPECT_THAT(found->left_out, SizeIs(4));
  EXPECT_FALSE(read_route_knobs("&&&& RUNNING"));
  EXPECT_FALSE(read_route_knobs("{\"tuner_options\": 3}"));
}

TEST(TrtexecArguments, SettingsBecomeOptionsOfTheBuildOrOfTheRun) {
  const auto catalogue = parse_catalogue(embedded::trtexec_knobs);
  ASSERT_TRUE(catalogue) << catalogue.error().message;
  const auto arguments = arguments_of({{"builderOptimizationLevel", "5"}, {"noTF32", "1"}, {"noCudaGraph", "1"}, {"fp16", "0"},
                                       {"parallel_requests", "2"}, {"route.a", "off"}, {"batch", "4"}}, *catalogue);
  ASSERT_TRUE(arguments) << arguments.error().message;
  EXPECT_THAT(arguments->build, ElementsAre("--builderOptimizationLevel=5", "--noTF32", "--setBuildRoute=-a=off"));
  EXPECT_THAT(arguments->run, ElementsAre("--noCudaGraph", "--infStreams=2"));
  EXPECT_THAT(arguments_of({{"allowWeightStreaming", "1"}, {"weightStreamingBudget", "50%"}}, *catalogue)->run,
              ElementsAre("--weightStreamingBudget=50%", "--allowWeightStreaming"));
  EXPECT_EQ(arguments_of({{"builderOptimizationLevel", "9"}}, *catalogue).error().reason, "unsupported");
  EXPECT_EQ(arguments_of({{"mystery", "9"}}, *catalogue).error().reason, "unsupported");
}

TEST(TrtexecArguments, TheProfileSpansTheTraffic) {
  OnnxModel model;
  model.inputs = {{.name = "x", .dtype = DType::kFloat32, .type_name = "float32", .dims = std::vector<Dimension>{{.size = -1, .name = "N"}, {.size = 3, .name = ""}, {.size = -1, .name = ""}}},
                  {.name = "fixed", .dtype = DType::kFloat32, .type_name = "float32", .dims = std::vector<Dimension>{{.size = 2, .name = ""}}}};
  BuildRequest request;
  request.shapes = {{{"x", {1, 3, 320}}, {"fixed", {2}}}, {{"x", {1, 3, 640}}, {"fixed", {2}}}};
  const auto profile = profile_of(model, request);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_THAT(profile->arguments, ElementsAre("--minShapes=x:1x3x320", "--optShapes=x:1x3x320", "--maxShapes=x:1x3x640"));
  EXPECT_EQ(profile->port_shapes.at("x"), (Shape{1, 3, -1}));
  request.settings = {{"batch", "8"}};
  EXPECT_EQ(profile_of(model, request).error().reason, "unsupported");  // the other input's first axis is fixed
  model.inputs.pop_back();
  EXPECT_THAT(profile_of(model, request)->arguments, ElementsAre("--minShapes=x:1x3x320", "--optShapes=x:8x3x320", "--maxShapes=x:8x3x640"));
}

TEST(TrtexecArguments, NamesThatTheCommandLineCannotCarryAreRefused) {
  EXPECT_EQ(*named_word("x:0", "1x3"), "'x:0':1x3");
  EXPECT_EQ(*named_word("x", shape_word({})), "x:scalar");
  EXPECT_EQ(named_word("a,b", "1").error().reason, "unsupported");
}

TEST(TrtexecArguments, DevicesAreCounted) {
  EXPECT_EQ(*device_index("GPU"), 0);
  EXPECT_EQ(*device_index("CPU"), 0);
  EXPECT_EQ(*device_index("GPU.1"), 1);
  EXPECT_EQ(*device_index("CUDA:2"), 2);
  EXPECT_EQ(device_index("NPU").error().reason, "unsupported");
  EXPECT_EQ(device_index("GPU.-1").error().reason, "unsupported");
}

Query query(double start, double latency) {
  return {.start_seconds = start, .end_seconds = start + latency, .latency_seconds = latency, .compute_seconds = latency / 2};
}

TEST(TrtexecTiming, WarmUpIsCutOffAndWhatCameAfterItsTimeDoesNotCount) {
  BlockSum sum({.warmup_count = 1, .min_count = 2, .min_seconds = 0, .max_seconds = 0.35}, false);
  ASSERT_TRUE(sum.add({query(0, 0.9), query(1, 0.1), query(1.1, 0.2), query(1.3, 0.1), query(1.4, 0.1)}, 1));
  const SelfTimedBlock block = sum.take();
  EXPECT_THAT(block.report.warmup_seconds, ElementsAre(0.9));
  EXPECT_THAT(block.report.latency_seconds, ElementsAre(0.1, 0.2, 0.1));
  EXPECT_EQ(block.report.count, 3);
  EXPECT_NEAR(block.report.seconds, 0.4, 1e-9);
  EXPECT_DOUBLE_EQ(block.told.at("device_p50_seconds"), 0.05);
}

TEST(TrtexecTiming, ATraceOfWarmUpOnlyIsAnError) {
  BlockSum sum({.warmup_count = 2, .min_count = 1, .min_seconds = 0, .max_seconds = 1}, false);
  EXPECT_FALSE(sum.add({query(0, 1), query(1, 1)}, 1));
}

TEST(TrtexecTiming, OfflineCountsSamples) {
  BlockSum sum({.warmup_count = 0, .min_count = 1, .min_seconds = 0, .max_seconds = 9}, true);
  ASSERT_TRUE(sum.add({query(0, 1), query(1, 1)}, 8));
  EXPECT_EQ(sum.take().report.count, 16);
}

TEST(TrtexecFiles, TimesThatAreNoneAreErrors) {
  const TestFolder folder;
  const auto times = [&](const std::string& text) {
    folder.write("times.json", text);
    return read_times(folder / "times.json");
  };
  const auto good = times(R"([ { "startH2dMs" : 1, "endD2hMs" : 3, "latencyMs" : 2, "computeMs" : 1.5 } ])");
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_DOUBLE_EQ(good->front().latency_seconds, 0.002);
  EXPECT_DOUBLE_EQ(good->front().compute_seconds, 0.0015);
  EXPECT_FALSE(times("[\n  \n]\n"));
  EXPECT_FALSE(times(R"([ { "startH2dMs" : 1, "endD2hMs" : 3, "latencyMs" : nan, "computeMs" : 1 } ])"));
  EXPECT_FALSE(times(R"([ { "startH2dMs" : 1, "endD2hMs" : 3, "latencyMs" : -2, "computeMs" : 1 } ])"));
  EXPECT_FALSE(times(R"([ { "latencyMs" : 2 } ])"));
}

TEST(TrtexecFiles, TypesOfLayersAreCountedWithAndWithoutAContext) {
  const auto layers = Json::parse(R"({"Layers":[{"Outputs":[{"Format/Datatype":"Half"}]},
    {"Outputs":[{"Format/Datatype":"Channel major FP16 format where channel % 8 == 0"}]},{"Outputs":[{"Datatype":"BFloat16"}]},"name only",{}]})");
  EXPECT_THAT(precisions_in(layers), ElementsAre(std::pair("bf16", 1), std::pair("f16", 2)));
}

// The engine with the double of trtexec (tests/trtexec_double.py says what its script means).
class TrtexecEngine : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy_file(FIEL_TRTEXEC_DOUBLE, folder_ / "trtexec");
    ASSERT_TRUE(write_tiny_model(folder_ / "model.onnx", {1, 4}));
    std::filesystem::create_directory(folder_ / "artifact");
    script_ = {{"version", 110100},
               {"inputs", {{{"name", "x"}, {"type", "fp32"}, {"dims", {1, 4}}}}},
               {"outputs", {{{"name", "y"}, {"type", "fp32"}, {"rule", "copy"}}}},
               {"knobs", {{{"option", "-copy_ppg"}, {"allowed_values", "-copy_ppg=[on|off]"}, {"default_value", "on"}}}}};
  }
  Engine& engine() {
    folder_.write("trtexec.json", script_.dump());
    engine_ = make_trtexec_engine({.program = folder_ / "trtexec", .timing_cache = {}});
    return *engine_;
  }
  BuildRequest request(Settings settings = {}) const {
    return {.model = folder_ / "model.onnx", .device = "GPU", .settings = std::move(settings), .shapes = {}, .artifact_dir = folder_ / "artifact"};
  }
  LoadRequest load_request(Settings settings = {}) const {
    return {.artifact_dir = folder_ / "artifact", .device = "GPU", .settings = std::move(settings), .shapes = {}, .scenario = "single_stream"};
  }
  EngineResult<std::vector<float>> infer(Engine& loaded) {
    const Tensor x = floats({1, 4}, {1, 2, 3, 4});
    FIEL_TRY_ENGINE(loaded.prepare(0, {x.view()}));
    FIEL_TRY_ENGINE(loaded.run(0));
    const auto tensors = FIEL_TRY_ENGINE(loaded.outputs(0));
    return values(tensors[0].view());
  }

  TestFolder folder_;
  Json script_;
  std::unique_ptr<Engine> engine_;
};

std::vector<std::string> names_of(const Json& list) {
  std::vector<std::string> names;
  for (const Json& item : list) names.push_back(item["name"]);
  return names;
}

TEST_F(TrtexecEngine, SaysVersionDeviceAndTheKnobsOfItsVersion) {
  const auto hello = engine().describe();
  ASSERT_TRUE(hello) << hello.error().message;
  EXPECT_EQ((*hello)["version"], "11.1.0");
  EXPECT_THAT((*hello)["devices"][0]["description"].get<std::string>(), HasSubstr("NVIDIA Double 1"));
  EXPECT_THAT(names_of((*hello)["knobs"]), AllOf(Contains("route.copy_ppg"), Contains("noCudaGraph"), Not(Contains("fp16")), Not(Contains("useCudaGraph"))));
  script_["version"] = 100900;
  const auto older = engine().describe();
  ASSERT_TRUE(older) << older.error().message;
  EXPECT_EQ((*older)["version"], "10.9.0");
  EXPECT_THAT(names_of((*older)["knobs"]), AllOf(Contains("fp16"), Contains("useCudaGraph"), Each(Not(HasSubstr("route.")))));
  EXPECT_THAT(names_of((*older)["left_out"]), Contains("noCudaGraph"));
}

TEST_F(TrtexecEngine, SaysWhatIsMissing) {
  script_["device"] = nullptr;
  EXPECT_THAT(engine().describe().error().message, HasSubstr("Cannot find any available devices"));
  script_["version"] = 8601;
  EXPECT_THAT(engine().describe().error().message, HasSubstr("is of TensorRT 8.6.1"));
  EXPECT_THAT(make_trtexec_engine({.program = folder_ / "no", .timing_cache = {}})->describe().error().message, HasSubstr("no program"));
}

TEST_F(TrtexecEngine, BuildsLoadsAndRuns) {
  Engine& trtexec = engine();
  const auto built = trtexec.build(request({{"route.copy_ppg", "off"}}));
  ASSERT_TRUE(built) << built.error().message;
  EXPECT_DOUBLE_EQ(built->build_seconds, 1.5);
  EXPECT_THAT(built->precisions, ElementsAre(std::pair("f16", 1)));
  EXPECT_EQ(built->effective.at("route.copy_ppg"), "as the engine is");
  EXPECT_THAT(trtexec.load(load_request()).error().message, HasSubstr("not those that the engine was built with"));
  const auto loaded = trtexec.load(load_request({{"route.copy_ppg", "off"}}));
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->graph_digest, built->graph_digest);
  EXPECT_THAT(*infer(trtexec), ElementsAre(1, 2, 3, 4));
}

TEST_F(TrtexecEngine, RefusesAnEngineThatIsNotTheOneThatWasBuilt) {
  Engine& trtexec = engine();
  ASSERT_TRUE(trtexec.build(request()));
  folder_.write("artifact/engine.plan", "another");
  EXPECT_EQ(trtexec.load(load_request()).error().reason, "bad_request");
}

TEST_F(TrtexecEngine, AKnobThatTheCompilerOverridesGivesTheSameEngine) {
  script_["knobs"][0]["overridden"] = true;
  Engine& trtexec = engine();
  const auto one = trtexec.build(request());
  const auto other = trtexec.build(request({{"route.copy_ppg", "off"}}));
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->graph_digest, other->graph_digest);
  EXPECT_EQ(one->effective, other->effective);
}

TEST_F(TrtexecEngine, WhatGoesWrongInABuildHasAReason) {
  const std::pair<const char*, const char*> cases[] = {{"build_error", "build_error"}, {"crash", "build_error"},
                                                       {"unsupported_type", "unsupported"}, {"out_of_memory", "out_of_memory"},
                                                       {"no_engine", "build_error"}};
  for (const auto& [fault, reason] : cases) {
    script_["faults"] = {{"*", fault}};
    const auto built = engine().build(request());
    ASSERT_FALSE(built) << fault;
    EXPECT_EQ(built.error().reason, reason) << fault;
  }
}

TEST_F(TrtexecEngine, WhatGoesWrongInARunIsToldAndNanPassesThrough) {
  for (const char* fault : {"crash_run", "short_output"}) {
    script_["faults"] = {{"*", fault}};
    Engine& trtexec = engine();
    ASSERT_TRUE(trtexec.build(request())) << fault;
    ASSERT_TRUE(trtexec.load(load_request())) << fault;
    EXPECT_FALSE(infer(trtexec)) << fault;
  }
  script_["faults"] = {{"*", "nan"}};
  Engine& trtexec = engine();
  ASSERT_TRUE(trtexec.build(request()));
  ASSERT_TRUE(trtexec.load(load_request()));
  EXPECT_TRUE(std::isnan(infer(trtexec)->front()));
}

}  // namespace
}  // namespace fiel::trtexec
