// What a worker does when all is well, and what the pool does besides asking it.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "base/proc.h"
#include "base/subprocess.h"
#include "model/npy.h"
#include "pool/pool_fixture.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

pid_t pid_of(Worker& worker) {
  const auto answer = worker.call({{"type", "hello"}, {"protocol", 1}}, kSeconds);
  return static_cast<pid_t>(get_int(std::get<Json>(answer), "pid").value());
}

TEST_F(WorkerTest, OutputsOfAnEarlierRequestCanNotPassForNewOnes) {
  const auto worker = start_fake("{}");
  value_of(request_build(*worker, build_order({}), kSeconds));
  value_of(request_load(*worker, load_order({}), kSeconds));
  const InferResult first = value_of(request_infer(*worker, infer_order({5, 2}), kSeconds));
  const fs::path left = first.outputs[0].files.at("y");
  ASSERT_TRUE(read_npy(left));
  const fs::path linked = worker->scratch() / "linked.npy";
  fs::copy_file(left, linked);
  fs::create_hard_link(linked, left.parent_path() / "link.npy");
  fs::create_directories(left.parent_path() / "folder/in/it");
  value_of(request_infer(*worker, infer_order({3}), kSeconds));
  EXPECT_TRUE(fs::exists(left)) << "its pages are to be used again";
  EXPECT_FALSE(read_npy(left));
  EXPECT_TRUE(read_npy(linked)) << "a file that has another name too is not ours to change";
  EXPECT_FALSE(fs::exists(left.parent_path() / "link.npy"));
  EXPECT_FALSE(fs::exists(left.parent_path() / "folder"));
}

TEST_F(WorkerTest, OneRequestsOutputsCanBeReadWhileTheNextOneRuns) {
  const auto worker = start_fake("{}");
  bring_up(*worker);
  auto first = begin_infer(*worker, infer_order({5, 2}), kSeconds, {});
  const InferResult done = value_of(finish_infer(*worker, std::get<BegunInfer>(first)));
  const auto second = begin_infer(*worker, infer_order({3}), kSeconds, std::get<BegunInfer>(first).folder);
  EXPECT_TRUE(worker->busy());
  EXPECT_TRUE(read_npy(done.outputs[0].files.at("y")));
  const InferResult next = value_of(finish_infer(*worker, std::get<BegunInfer>(second)));
  EXPECT_FALSE(worker->busy());
  EXPECT_TRUE(read_npy(done.outputs[0].files.at("y")));
  EXPECT_EQ(element(read_npy(next.outputs[0].files.at("y"))->view(), 1), 2 * 3.25);
  value_of(request_infer(*worker, infer_order({1}), kSeconds));
  EXPECT_FALSE(read_npy(done.outputs[0].files.at("y"))) << "its folder is the third request's";
}

TEST_F(WorkerTest, AnAnswerThatCameBeforeAnybodyLookedIsInTime) {
  const auto worker = start_fake("{}");
  worker->begin({{"type", "hello"}, {"protocol", 1}}, kShortSeconds);
  ASSERT_TRUE(run_program({"sleep", "1"}, {}));
  EXPECT_TRUE(std::holds_alternative<Json>(worker->finish()));
}

TEST_F(WorkerTest, ANewRequestDropsTheAnswerToTheOneBefore) {
  const auto worker = start_fake("{}");
  bring_up(*worker);
  const auto begun = begin_infer(*worker, infer_order({5, 2}), kSeconds, {});
  ASSERT_TRUE(std::holds_alternative<BegunInfer>(begun));
  EXPECT_EQ(value_of(request_infer(*worker, infer_order({3}), kSeconds)).outputs[0].index, 3);
}

TEST_F(WorkerTest, AWorkerIsHeldToItsMemoryWhileAProgramRuns) {
  auto with_cap = spec(fake_argv(R"({"faults":[{"do":"leak","phase":"infer","bytes":400000000},
                                               {"do":"hang","phase":"infer"}]})"));
  with_cap.memory_limit_bytes = std::int64_t{100} << 20;
  const auto worker = start(with_cap);
  const pid_t pid = pid_of(*worker);
  bring_up(*worker);
  const auto begun = begin_infer(*worker, infer_order({0}), kSeconds, {});
  {
    const WhileWaiting watch([&] { worker->look(); });
    const auto until_dead = fmt::format("while kill -0 {} 2>/dev/null; do :; done", pid);
    ASSERT_TRUE(run_program({"sh", "-c", until_dead}, {.timeout_seconds = kSeconds}));
  }
  EXPECT_FALSE(worker->alive());
  const auto answer = finish_infer(*worker, std::get<BegunInfer>(begun));
  EXPECT_EQ(std::get<Failure>(answer).kind, FailureKind::kOutOfMemory);
}

TEST_F(WorkerTest, AWholeConversationWithTheScriptedEngine) {
  const auto worker =
      start_fake(R"({"knobs":[{"name":"STREAMS","kind":"property","values":["1","2"],"default":"1",
                                              "latency":{"2":0.5},"effective":{"2":"two"}}],
                                    "build_seconds":7.5,"float32_settings":{"STREAMS":"1"},"precisions":{"f32":3}})");
  const HelloResult hello = value_of(request_hello(*worker, kSeconds));
  EXPECT_EQ(hello.engine, "fake");
  ASSERT_EQ(hello.knobs.size(), 1u);
  EXPECT_EQ(hello.knobs[0].default_value, "1");
  EXPECT_EQ(hello.float32_settings.at("STREAMS"), "1");

  const BuildResult built =
      value_of(request_build(*worker, build_order({{"STREAMS", "2"}}), kSeconds));
  EXPECT_EQ(built.build_seconds, 7.5);
  EXPECT_EQ(built.effective.settings.at("STREAMS"), "two");
  EXPECT_EQ(built.effective.precisions.at("f32"), 3);
  const LoadResult loaded =
      value_of(request_load(*worker, load_order({{"STREAMS", "2"}}), kSeconds));
  EXPECT_EQ(loaded.outputs.at(0).name, "y");
  EXPECT_EQ(loaded.outputs.at(0).shape, (Shape{-1, 4}));
  EXPECT_EQ(loaded.effective.graph_digest, built.effective.graph_digest);

  const InferResult inferred = value_of(request_infer(*worker, infer_order({5, 2}), kSeconds));
  ASSERT_EQ(inferred.outputs.size(), 2u);
  EXPECT_EQ(inferred.outputs[0].index, 5);
  const Tensor y = read_npy(inferred.outputs[1].files.at("y")).value();
  EXPECT_EQ(element(y.view(), 1), 2 * 2.25);

  const MeasureResult measured = value_of(request_measure(*worker, measure_order(), kSeconds));
  EXPECT_GE(measured.count, 5);
  EXPECT_EQ(measured.warmup_seconds.size(), 2u);
  EXPECT_NEAR(measured.latencies_seconds.at(0), 0.0005,
              1e-12);  // half of the script's millisecond, without noise
  const fs::path scratch = worker->scratch();
  EXPECT_TRUE(fs::exists(scratch));
  say_bye(*worker);
  EXPECT_FALSE(worker->alive());
}

TEST_F(WorkerTest, TheScratchFolderGoesWithTheWorker) {
  auto with_leftovers = spec(fake_argv("{}"));
  ASSERT_TRUE(ensure_folder(with_leftovers.scratch / "left/behind"));
  {
    const auto worker = start(with_leftovers);
    EXPECT_FALSE(fs::exists(with_leftovers.scratch / "left"));
    value_of(request_hello(*worker, kSeconds));
  }
  EXPECT_FALSE(fs::exists(with_leftovers.scratch));
}

TEST_F(WorkerTest, AProgramThatIsNotThereIsAFailureOfTheEnvironment) {
  const auto outcome = pool_->start(spec({"/nonexistent/worker"}));
  ASSERT_TRUE(std::holds_alternative<Failure>(outcome));
  const Failure& failure = std::get<Failure>(outcome);
  EXPECT_EQ(failure.kind, FailureKind::kEnvironment);
  EXPECT_THAT(failure.message, HasSubstr("/nonexistent/worker"));
  EXPECT_FALSE(fs::exists(folder_.path() / "scratch1"));
}

TEST_F(WorkerTest, EnvironmentKnobsAreInItsEnvironment) {
  const std::string script =
      R"({"knobs":[{"name":"FAKE_ISA","kind":"environment","values":["avx2","amx"],
                                          "default":"amx"}],
                                 "faults":[{"do":"error","phase":"hello","when":{"FAKE_ISA":"avx2"},"message":"seen",
                                            "reason":"unsupported"}]})";
  auto with_variable = spec(fake_argv(script));
  const auto plain = start(with_variable);
  value_of(request_hello(*plain, kSeconds));
  with_variable.environment["FAKE_ISA"] = "avx2";
  with_variable.scratch += "-second";
  const auto set = start(with_variable);
  const auto answer = request_hello(*set, kSeconds);
  ASSERT_TRUE(std::holds_alternative<Failure>(answer));
  EXPECT_EQ(std::get<Failure>(answer).message, "seen");
}

TEST_F(WorkerTest, APausedWorkerStandsStillAndGoesOn) {
  const auto worker = start_fake();
  const pid_t pid = pid_of(*worker);
  worker->pause();
  EXPECT_TRUE(is_stopped(pid));
  worker->resume();
  value_of(request_hello(*worker, kSeconds));
  worker->pause();
  value_of(request_hello(*worker, kSeconds));  // a request wakes it
  worker->pause();                             // and a paused one can be ended
}

TEST_F(WorkerTest, UsageCountsTimeAndMemoryAlsoAfterTheEnd) {
  const auto worker = start_fake(R"({"faults":[{"do":"leak","phase":"build","bytes":50000000}]})");
  bring_up(*worker);
  const WorkerUsage alive = worker->usage();
  EXPECT_GT(alive.peak_memory_bytes, 50'000'000);
  EXPECT_LT(alive.peak_memory_bytes, 200'000'000);
  say_bye(*worker);
  EXPECT_GE(worker->usage().cpu_seconds, alive.cpu_seconds);
  EXPECT_GE(worker->usage().peak_memory_bytes, alive.peak_memory_bytes);
}

TEST_F(WorkerTest, CtrlCEndsARequestWithinASecond) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  Fd read(ends[0]), write(ends[1]);
  pool_ = make_process_pool(read.get());
  auto worker = start_fake(
      R"({"faults":[{"do":"hang","phase":"build","ignore_sigterm":true,"grandchild":true}]})");
  value_of(request_hello(*worker, kSeconds));
  ASSERT_EQ(::write(write.get(), "x", 1), 1);
  const double seconds = seconds_of([&] {
    const auto answer = request_build(*worker, build_order(), kSeconds);
    ASSERT_TRUE(std::holds_alternative<Failure>(answer));
    EXPECT_EQ(std::get<Failure>(answer).kind, FailureKind::kCancelled);
    worker.reset();
  });
  EXPECT_LT(seconds, 1);
  pool_.reset();
}

TEST_F(WorkerTest, ALargeRequestGoesToAWorkerThatReadsSlowly) {
  const auto worker = start_fake(R"({"faults":[{"do":"slow","phase":"build","seconds":0.05}]})");
  auto order = build_order();
  const std::vector<TrafficShape> many(20'000,
                                       shape_);  // some 300 KiB, several times what a pipe holds
  order.shapes = many;
  value_of(request_build(*worker, order, kSeconds));
}

TEST_F(WorkerTest, AWorkerThatDoesNotReadALargeRequestIsLate) {
  const auto worker = start_fake(R"({"faults":[{"do":"hang","phase":"start"}]})");
  auto order = build_order();
  const std::vector<TrafficShape> many(20'000, shape_);
  order.shapes = many;
  const auto answer = request_build(*worker, order, kShortSeconds);
  ASSERT_TRUE(std::holds_alternative<Failure>(answer));
  EXPECT_EQ(std::get<Failure>(answer).kind, FailureKind::kTimeout);
}

TEST_F(WorkerTest, AWorkerWrittenInPythonFromThePageAlone) {
  const auto worker = start(spec({FIEL_PYTHON, FIEL_SOURCE_DIR "/tests/python_worker.py"}));
  const HelloResult hello = value_of(request_hello(*worker, kSeconds));
  EXPECT_EQ(hello.engine, "doubler");
  bring_up(*worker);
  const InferResult inferred =
      value_of(request_infer(*worker, infer_order({7, 0, 3}, 2), kSeconds));
  ASSERT_EQ(inferred.outputs.size(), 3u);
  for (const OutputFiles& outputs : inferred.outputs) {
    const Tensor y = read_npy(outputs.files.at("y")).value();
    EXPECT_EQ(y.shape, (Shape{1, 4}));
    EXPECT_EQ(element(y.view(), 2), 2 * (outputs.index + 0.5));
  }
  const MeasureResult measured = value_of(request_measure(*worker, measure_order(), kSeconds));
  EXPECT_GE(measured.count, 5);
  EXPECT_EQ(measured.outputs.size(), 1u);
  auto offline = measure_order();
  offline.scenario = Scenario::kOffline;
  offline.batch = 2;
  const MeasureResult batches = value_of(request_measure(*worker, offline, kSeconds));
  EXPECT_EQ(batches.count, 2 * std::ssize(batches.latencies_seconds));
  EXPECT_EQ(batches.outputs.size(), 2u);
  const auto refused = request_build(
      *worker,
      [&] {
        auto order = build_order();
        order.device = "GPU";
        return order;
      }(),
      kSeconds);
  ASSERT_TRUE(std::holds_alternative<Failure>(refused));
  EXPECT_EQ(std::get<Failure>(refused).kind, FailureKind::kUnsupported);
  say_bye(*worker);
}

}  // namespace
}  // namespace fiel
