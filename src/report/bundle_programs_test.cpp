// The programs of a bundle, run with the real engines on artifacts that they really made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>

#include "report/bundle.h"
#include "report/test_run.h"

namespace fiel {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

struct Said {
  int status = -1;
  std::string text;  // both streams
};

Said run(const std::string& command) {
  Said said;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return said;
  char buffer[4096];
  for (std::size_t size; (size = fread(buffer, 1, sizeof buffer, pipe)) > 0;) said.text.append(buffer, size);
  const int status = pclose(pipe);
  said.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return said;
}

// y = relu(x), with a free batch, exported as the worker does; and an input with its answer.
constexpr const char* kMakeArtifact = R"(
import json, pathlib
import numpy as np, openvino as ov
from openvino import opset13 as op
x = op.parameter(ov.PartialShape([-1, 4]), np.float32, name="x")
x.output(0).tensor.set_names({"x"})
y = op.relu(x)
y.output(0).tensor.set_names({"y"})
model = ov.Model([y], [x], "small")
settings = {"NUM_STREAMS": "1"}
compiled = ov.Core().compile_model(model, "CPU", settings)
place = pathlib.Path("made")
place.mkdir()
(place / "compiled.blob").write_bytes(compiled.export_model().read())
version = ov.get_version().split("-")[0]
(place / "load.json").write_text(json.dumps({"engine": "openvino", "version": version, "device": "CPU",
    "file": "compiled.blob", "settings": settings, "inputs": ["x"], "outputs": ["y"]}))
pathlib.Path("version").write_text(version)
np.save("x.npy", np.array([[-1, 2, -3, 4], [5, -6, 7, -8]], dtype=np.float32))
np.save("wrong.npy", np.zeros((2, 4), dtype=np.int16))
)";

class BundlePrograms : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(folder_.python(kMakeArtifact));
    make_bundle(folder_.read("version"), "AVX2");
  }

  void make_bundle(const std::string& version, const std::string& isa,
                   const std::vector<std::string>& cpu_features = {}, const std::vector<int>& cores = {}) {
    std::filesystem::remove_all(folder_ / "run");
    std::filesystem::create_directories(folder_ / "run");
    std::filesystem::copy(folder_ / "made", folder_ / "copy", std::filesystem::copy_options::recursive);
    TestRun run(folder_ / "run");
    run.event("run", "run", {{"fiel_version", "0.1.0"}, {"device", "CPU"}, {"scenario", "single_stream"},
                             {"cores", cores},
                             {"shapes", Json::array({Json({{"weight", 1.0}, {"inputs", {{"x", {3, 4}}}}})})}}, 1);
    run.event("engine/openvino", "engine",
              {{"engine", "openvino"}, {"version", version}, {"devices", Json::array()}, {"cpu_features", cpu_features},
               {"knobs", {{"NUM_STREAMS", "property"}, {"ONEDNN_MAX_CPU_ISA", "environment"}}}}, 1);
    run.candidate(2, {{"NUM_STREAMS", "1"}, {"ONEDNN_MAX_CPU_ISA", isa}}, {"baseline"});
    run.built_from(folder_ / "copy", 2, "f32");
    run.judged(2, "admissible", "", 0);
    run.verdict("not_improved", "nothing was faster", {{"ships", 2}});
    const auto bundle = write_bundle(folder_ / "run", {}, folder_ / "bundle");
    ASSERT_TRUE(bundle) << bundle.error().message;
  }

  std::string load_py() const { return std::string(FIEL_PYTHON) + " " + (folder_ / "bundle/load.py").string() + " "; }
  std::string given() const { return "x=" + (folder_ / "x.npy").string() + " "; }
  // The right answer: negative numbers are gone.
  bool saved_is_right() const {
    return folder_.python("import numpy as np\n"
                          "assert np.array_equal(np.load('saved/0.npy'), [[0, 2, 0, 4], [5, 0, 7, 0]])\n");
  }

  TestFolder folder_;
};

TEST_F(BundlePrograms, PythonLoadsRunsAndSaysWhatCameOut) {
  const Said said = run(load_py() + given() + "--repeat 3 --save " + (folder_ / "saved").string());
  EXPECT_EQ(said.status, 0) << said.text;
  EXPECT_THAT(said.text, HasSubstr("output y float32 [2, 4]"));
  EXPECT_THAT(said.text, ContainsRegex("latency [0-9.]+ ms"));
  EXPECT_TRUE(saved_is_right());
  EXPECT_TRUE(check_seal(folder_ / "bundle")->intact()) << "running it leaves nothing behind";
}

TEST_F(BundlePrograms, PythonMakesUpFloatsInTheShapeOfTheTraffic) {
  const Said said = run(load_py());
  EXPECT_EQ(said.status, 0) << said.text;
  EXPECT_THAT(said.text, HasSubstr("output y float32 [3, 4]"));
}

TEST_F(BundlePrograms, PythonSaysWhatTheCpuLacksAndWhichCoresItWasMeasuredOn) {
  make_bundle(folder_.read("version"), "AVX2", {"avx_from_tomorrow"}, {777});
  const Said refused = run(load_py());
  EXPECT_EQ(refused.status, 7);
  EXPECT_THAT(refused.text, HasSubstr("this CPU lacks avx_from_tomorrow"));
  make_bundle(folder_.read("version"), "AVX2", {}, {777});
  const Said noted = run(load_py());
  EXPECT_EQ(noted.status, 0);
  EXPECT_THAT(noted.text, HasSubstr("taskset -c 777"));
}

TEST_F(BundlePrograms, PythonRefusesWhatIsNotSealedNotKnownOrNotThisVersion) {
  EXPECT_EQ(run(load_py() + "nothing.npy").status, 2);
  EXPECT_THAT(run(load_py() + "z=" + (folder_ / "x.npy").string()).text, HasSubstr("no input is called z"));
  make_bundle("2024.0.0", "AVX2");
  const Said version = run(load_py());
  EXPECT_EQ(version.status, 7);
  EXPECT_THAT(version.text, HasSubstr("2024.0.0"));
  make_bundle(folder_.read("version"), "AVX2");
  folder_.write("bundle/artifact/compiled.blob", folder_.read("bundle/artifact/compiled.blob") + "x");
  const Said seal = run(load_py());
  EXPECT_EQ(seal.status, 6);
  EXPECT_THAT(seal.text, HasSubstr("artifact/compiled.blob"));
}

// One build folder for all that the C++ program must do; what it is bound to is compiled in.
TEST_F(BundlePrograms, CppDoesTheSame) {
  const auto build = folder_ / "build";
  const std::string where = std::string(FIEL_PYTHON) + " -c 'import openvino as o; print(o.__path__[0] + \"/cmake\")'";
  const Said built = run("cmake -S " + (folder_ / "bundle").string() + " -B " + build.string() +
                         " -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=" FIEL_CXX " -DOpenVINO_DIR=\"$(" + where +
                         ")\" && cmake --build " + build.string());
  ASSERT_EQ(built.status, 0) << built.text;
  const std::string load = (build / "load").string() + " ";
  const Said said = run(load + given());
  EXPECT_EQ(said.status, 0) << said.text;
  EXPECT_THAT(said.text, HasSubstr("output y f32 [2, 4]"));
  EXPECT_THAT(run(load).text, HasSubstr("output y f32 [3, 4]"));
  EXPECT_EQ(run(load + "x=" + (folder_ / "wrong.npy").string()).status, 2);
  EXPECT_TRUE(check_seal(folder_ / "bundle")->intact());
  folder_.write("bundle/artifact/compiled.blob", "x");
  EXPECT_EQ(run(load).status, 6);
  make_bundle(folder_.read("version"), "AVX2", {"avx_from_tomorrow"}, {777});
  ASSERT_EQ(run("cmake --build " + build.string()).status, 0);
  const Said refused = run(load);
  EXPECT_EQ(refused.status, 7);
  EXPECT_THAT(refused.text, HasSubstr("this CPU lacks avx_from_tomorrow"));
}

// The same model, optimised and saved by ONNX Runtime as its worker does it.
constexpr const char* kMakeOptimized = R"(
import json, pathlib
import numpy as np, onnx, onnxruntime as ort
from onnx import TensorProto, helper
x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N", 4]) for n in "xy")
graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "small", [x], [y])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
place = pathlib.Path("made")
place.mkdir()
options = ort.SessionOptions()
options.log_severity_level = 3
options.optimized_model_filepath = str(place / "optimized.onnx")
ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
(place / "load.json").write_text(json.dumps({"engine": "onnxruntime", "version": ort.__version__, "device": "CPU",
    "file": "optimized.onnx", "settings": {"intra_op_num_threads": "1"}, "inputs": ["x"], "outputs": ["y"],
    "options": {"graph_optimization_level": "none", "intra_op_num_threads": "1", "enable_mem_pattern": "0",
                "execution_mode": "parallel", "session.set_denormal_as_zero": "1"}}))
pathlib.Path("version").write_text(ort.__version__)
np.save("x.npy", np.array([[-1, 2, -3, 4], [5, -6, 7, -8]], dtype=np.float32))
np.save("wrong.npy", np.zeros((2, 4), dtype=np.int16))
)";

class OnnxRuntimeBundle : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(folder_.python(kMakeOptimized));
    std::filesystem::create_directories(folder_ / "run");
    TestRun run(folder_ / "run");
    run.event("run", "run", {{"fiel_version", "0.1.0"}, {"device", "CPU"}, {"scenario", "single_stream"},
                             {"shapes", Json::array({Json({{"weight", 1.0}, {"inputs", {{"x", {3, 4}}}}})})}}, 1);
    run.event("engine/onnxruntime", "engine",
              {{"engine", "onnxruntime"}, {"version", folder_.read("version")}, {"devices", Json::array()},
               {"cpu_features", Json::array()}, {"knobs", {{"intra_op_num_threads", "property"}}}}, 1);
    run.candidate(2, {{"intra_op_num_threads", "1"}}, {"baseline"}, "onnxruntime");
    run.built_from(folder_ / "made", 2, "f32");
    run.judged(2, "admissible", "", 0);
    run.verdict("not_improved", "nothing was faster", {{"ships", 2}});
    const auto bundle = write_bundle(folder_ / "run", {}, folder_ / "bundle");
    ASSERT_TRUE(bundle) << bundle.error().message;
  }

  TestFolder folder_;
};

TEST_F(OnnxRuntimeBundle, PythonLoadsRunsAndSaysWhatCameOut) {
  const std::string load_py = std::string(FIEL_PYTHON) + " " + (folder_ / "bundle/load.py").string() + " ";
  const Said said = run(load_py + "x=" + (folder_ / "x.npy").string() + " --repeat 3 --save " + (folder_ / "saved").string());
  EXPECT_EQ(said.status, 0) << said.text;
  EXPECT_THAT(said.text, HasSubstr("output y float32 [2, 4]"));
  EXPECT_TRUE(folder_.python("import numpy as np\n"
                             "assert np.array_equal(np.load('saved/0.npy'), [[0, 2, 0, 4], [5, 0, 7, 0]])\n"));
  EXPECT_THAT(run(load_py).text, HasSubstr("output y float32 [3, 4]")) << "made-up inputs have the traffic's shape";
  EXPECT_TRUE(check_seal(folder_ / "bundle")->intact()) << "running it leaves nothing behind";
}

TEST_F(OnnxRuntimeBundle, CppDoesTheSame) {
  if (std::string(FIEL_ONNXRUNTIME_INCLUDE).empty()) GTEST_SKIP() << "no headers of ONNX Runtime here: ./setup fetches them";
  const auto build = folder_ / "build";
  const std::string where = std::string(FIEL_PYTHON) +
                            " -c 'import glob, onnxruntime as o; print(glob.glob(o.__path__[0] + \"/capi/libonnxruntime.so*\")[0])'";
  const Said built = run("cmake -S " + (folder_ / "bundle").string() + " -B " + build.string() +
                         " -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=" FIEL_CXX
                         " -DONNXRUNTIME_INCLUDE=" FIEL_ONNXRUNTIME_INCLUDE " -DONNXRUNTIME_LIBRARY=\"$(" + where +
                         ")\" && cmake --build " + build.string());
  ASSERT_EQ(built.status, 0) << built.text;
  const std::string load = (build / "load").string() + " ";
  const Said said = run(load + "x=" + (folder_ / "x.npy").string());
  EXPECT_EQ(said.status, 0) << said.text;
  EXPECT_THAT(said.text, HasSubstr("output y f32 [2, 4]"));
  EXPECT_THAT(run(load).text, HasSubstr("output y f32 [3, 4]"));
  EXPECT_EQ(run(load + "x=" + (folder_ / "wrong.npy").string()).status, 2);
}

}  // namespace
}  // namespace fiel
