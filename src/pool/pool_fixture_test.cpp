#include "pool/pool_fixture.h"

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/proc.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr int kSamples = 8;
constexpr int kElements = 4;

int open_descriptors() {
  const auto folder = fs::directory_iterator("/proc/self/fd");
  return static_cast<int>(std::distance(begin(folder), end(folder)));
}

std::string children_of_ours() {
  std::string children;
  for (const ProcessFacts& facts : read_all_processes()) {
    if (facts.parent == ::getpid()) children += fmt::format("{}{} ", facts.pid, facts.state);
  }
  return children;
}

}  // namespace

WorkerTest::WorkerTest()
    : folder_(TempFolder::create("", "fiel-pool-test-").value()),
      pool_(make_process_pool(-1)),
      descriptors_before_(open_descriptors()) {
  std::string pack;
  samples_.pack = folder_.path() / "tuning.pack";
  for (int i = 0; i < kSamples; ++i) {
    Sample sample;
    sample.id = std::to_string(i);
    sample.inputs["x"] = {
        .offset = std::ssize(pack), .dtype = DType::kFloat32, .shape = {1, kElements}};
    samples_.samples.push_back(sample);
    for (int k = 0; k < kElements; ++k) {
      const float value = static_cast<float>(i) + 0.25F * static_cast<float>(k);
      pack.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    pack.resize((pack.size() + 63) / 64 * 64);
  }
  EXPECT_TRUE(write_atomic(samples_.pack, pack));
  EXPECT_TRUE(write_atomic(folder_.path() / "model.onnx", "a model"));
  shape_.inputs["x"] = {1, kElements};
}

WorkerTest::~WorkerTest() {
  EXPECT_EQ(children_of_ours(), "");
  EXPECT_EQ(open_descriptors(), descriptors_before_);
}

WorkerSpec WorkerTest::spec(std::vector<std::string> argv) {
  const std::string name = std::to_string(++workers_);
  const fs::path artifact = folder_.path() / "artifact";
  const fs::path state = folder_.path() / "state";
  EXPECT_TRUE(ensure_folder(artifact));
  EXPECT_TRUE(ensure_folder(state));
  return {.argv = std::move(argv),
          .environment = {},
          .scratch = folder_.path() / ("scratch" + name),
          .log = folder_.path() / ("log" + name),
          .memory_limit_bytes = {},
          .cores = {},
          .confinement = Confinement{.writable = {artifact, state}}};
}

std::vector<std::string> WorkerTest::fake_argv(const std::string& more) {
  Json script = {
      {"inputs", {{{"name", "x"}, {"dtype", "float32"}, {"shape", {-1, kElements}}}}},
      {"outputs",
       {{{"name", "y"}, {"dtype", "float32"}, {"shape", {-1, kElements}}, {"rule", "scale"}}}}};
  script.update(Json::parse(more));
  const fs::path path = folder_.path() / fmt::format("script{}.json", workers_);
  EXPECT_TRUE(write_atomic(path, script.dump()));
  return {FIEL_BINARY_DIR "/bin/fiel-worker-fake", path.string()};
}

std::unique_ptr<Worker> WorkerTest::start(const WorkerSpec& spec) {
  return value_of<std::unique_ptr<Worker>>(pool_->start(spec));
}

BuildOrder WorkerTest::build_order(std::map<std::string, std::string> settings) {
  const fs::path artifact = folder_.path() / "artifact";
  return {.model = folder_.path() / "model.onnx",
          .device = "CPU",
          .settings = std::move(settings),
          .shapes = {&shape_, 1},
          .artifact_dir = artifact};
}

LoadOrder WorkerTest::load_order(std::map<std::string, std::string> settings) {
  return {.artifact_dir = folder_.path() / "artifact",
          .device = "CPU",
          .settings = std::move(settings),
          .shapes = {&shape_, 1},
          .scenario = Scenario::kSingleStream,
          .state = {}};
}

InferOrder WorkerTest::infer_order(std::vector<int> indices, std::int64_t batch) {
  return {.samples = {.set = samples_, .indices = std::move(indices)}, .batch = batch};
}

MeasureOrder WorkerTest::measure_order(std::uint64_t seed) {
  return {.samples = {.set = samples_, .indices = {0, 1, 2}},
          .scenario = Scenario::kSingleStream,
          .batch = 1,
          .warmup_count = 2,
          .min_count = 5,
          .min_seconds = 0.02,
          .max_seconds = 1,
          .seed = seed};
}

std::optional<Failure> WorkerTest::drive(Worker& worker, const std::string& short_phase) {
  const auto failed = [](const auto& outcome) { return std::get_if<Failure>(&outcome); };
  const auto deadline = [&](const char* phase) {
    return phase == short_phase ? kShortSeconds : kSeconds;
  };
  const auto hello = request_hello(worker, deadline("hello"));
  if (const auto* failure = failed(hello)) return *failure;
  const auto built = request_build(worker, build_order(), deadline("build"));
  if (const auto* failure = failed(built)) return *failure;
  const auto loaded = request_load(worker, load_order(), deadline("load"));
  if (const auto* failure = failed(loaded)) return *failure;
  for (const std::int64_t batch : {1, 2}) {
    const auto inferred = request_infer(worker, infer_order({3, 1, 4}, batch), deadline("infer"));
    if (const auto* failure = failed(inferred)) return *failure;
  }
  const auto measured = request_measure(worker, measure_order(), deadline("measure"));
  if (const auto* failure = failed(measured)) return *failure;
  say_bye(worker);
  return std::nullopt;
}

void WorkerTest::bring_up(Worker& worker, const std::map<std::string, std::string>& settings) {
  value_of(request_build(worker, build_order(settings), kSeconds));
  value_of(request_load(worker, load_order(settings), kSeconds));
}

}  // namespace fiel
