// Workers behind a launcher: env(1) is one that has only this machine to give, and a name for it.
#include "pool/fleet.h"

#include <gmock/gmock.h>

#include <cmath>

#include "pool/pool_fixture.h"

namespace fiel {
namespace {

using ::testing::HasSubstr;

class FleetTest : public WorkerTest {
 protected:
  FleetOptions options(std::vector<std::string> launcher = {"env", "SLURMD_NODENAME=n7", "SLURM_JOB_ID=42"}) {
    return {.launcher = launcher, .join = launcher, .wait_seconds = kSeconds, .node_program = FIEL_BINARY_DIR "/bin/fiel-node",
            .folder = folder_.path(), .files = {folder_.path() / "model.onnx"},
            .say = [this](std::string_view line) { said_ += std::string(line) + "\n"; }, .cancel_fd = -1};
  }
  std::unique_ptr<Worker> start_on(Fleet& fleet, const WorkerSpec& spec) {
    return value_of<std::unique_ptr<Worker>>(fleet.start(spec));
  }
  static std::string refused(Fleet& fleet, const WorkerSpec& spec) {
    const auto started = fleet.start(spec);
    const auto* failure = std::get_if<Failure>(&started);
    EXPECT_TRUE(failure != nullptr && failure->phase == Fleet::kLaunch);
    return failure == nullptr ? "" : failure->message;
  }
  std::string said_;
};

TEST_F(FleetTest, AWorkerDoesAllThatItDoesHere) {
  Fleet fleet(options());
  const auto worker = start_on(fleet, spec(fake_argv("{}")));
  ASSERT_TRUE(worker);
  EXPECT_FALSE(drive(*worker));
  ASSERT_NE(fleet.latest(), nullptr);
  EXPECT_EQ(to_string(fleet.latest()->facts), "node n7, job 42");
  EXPECT_THAT(said_, HasSubstr("node n7, job 42"));
}

TEST_F(FleetTest, ItsEnvironmentIsWhatWasAskedForAndNotTheLaunchers) {
  const std::string script = R"({"knobs":[{"name":"FAKE_ISA","kind":"environment","values":["avx2","amx"],"default":"amx","latency":{"avx2":8}}]})";
  Fleet fleet(options({"env", "SLURMD_NODENAME=n7", "FAKE_ISA=avx2"}));
  const auto median = [&](std::map<std::string, std::string> environment) {
    WorkerSpec wanted = spec(fake_argv(script));
    wanted.environment = std::move(environment);
    const auto worker = start_on(fleet, wanted);
    bring_up(*worker);
    return value_of(request_measure(*worker, measure_order(), kSeconds)).latencies_seconds.at(0);
  };
  const double plain = median({});
  EXPECT_NEAR(median({{"FAKE_ISA", "avx2"}}) / plain, 8, 0.1);
}

TEST_F(FleetTest, ItsTimeAndMemoryAreSeenAndItsGroupIsPaused) {
  Fleet fleet(options());
  const auto worker = start_on(fleet, spec(fake_argv("{}")));
  bring_up(*worker);
  EXPECT_GT(worker->usage().peak_memory_bytes, 1 << 20);
  EXPECT_TRUE(fleet.machine_times().machine);
  worker->pause();
  worker->begin({{"type", "hello"}, {"protocol", 1}}, kSeconds);  // which wakes it
  EXPECT_TRUE(std::holds_alternative<Json>(worker->finish()));
}

TEST_F(FleetTest, AMemoryLimitHolds) {
  Fleet fleet(options());
  WorkerSpec small = spec(fake_argv(R"({"faults":[{"do":"leak","phase":"build","bytes":300000000},{"do":"slow","phase":"load","seconds":5}]})"));
  small.memory_limit_bytes = std::int64_t{100} << 20;
  const auto worker = start_on(fleet, small);
  const auto failure = drive(*worker);
  ASSERT_TRUE(failure);
  EXPECT_EQ(to_string(failure->kind), to_string(FailureKind::kOutOfMemory)) << failure->message;
  EXPECT_THAT(failure->message, HasSubstr("n7"));
}

TEST_F(FleetTest, ACrashIsTheWorkersOwnAndNamesTheNode) {
  Fleet fleet(options());
  const auto worker = start_on(fleet, spec(fake_argv(R"({"faults":[{"do":"crash","phase":"build","signal":11}]})")));
  const auto failure = drive(*worker);
  ASSERT_TRUE(failure);
  EXPECT_EQ(to_string(failure->kind), to_string(FailureKind::kCrash));
  EXPECT_THAT(failure->message, HasSubstr("node n7, job 42"));
  EXPECT_EQ(fleet.workers_lost(), 0);
}

TEST_F(FleetTest, WhatANodeLacksIsNamed) {
  FleetOptions wanting = options();
  wanting.files.push_back("/nowhere/library.so");
  Fleet without_file(wanting);
  EXPECT_THAT(refused(without_file, spec(fake_argv("{}"))), HasSubstr("node n7 can't read /nowhere/library.so"));
  Fleet fleet(options());
  EXPECT_THAT(refused(fleet, spec({"/nowhere/worker"})), HasSubstr("node n7: there is no program /nowhere/worker"));
  EXPECT_TRUE(fleet.latest() != nullptr && !fleet.latest()->lost);
}

TEST_F(FleetTest, ALauncherThatDoesNotLaunchIsQuotedAndNoWorkersFault) {
  Fleet failing(options({"sh", "-c", "echo no such partition >&2; exit 3"}));
  EXPECT_THAT(refused(failing, spec(fake_argv("{}"))), ::testing::AllOf(HasSubstr("exit status 3"), HasSubstr("no such partition")));
  Fleet chatty(options({"sh", "-c", "echo Welcome to n7; exec \"$@\"", "sh"}));
  EXPECT_THAT(refused(chatty, spec(fake_argv("{}"))), HasSubstr("wrote on its standard output"));
  FleetOptions slow = options({"sh", "-c", "sleep 20"});
  slow.wait_seconds = kShortSeconds;
  Fleet waiting(slow);
  EXPECT_THAT(refused(waiting, spec(fake_argv("{}"))), HasSubstr("no answer within"));
}

TEST_F(FleetTest, AnotherKindOfMachineIsGivenBack) {
  Fleet fleet(options());
  fleet.bind("Pentium II", 1);
  const std::string message = refused(fleet, spec(fake_argv("{}")));
  EXPECT_THAT(message, ::testing::AllOf(HasSubstr("Pentium II"), HasSubstr("--constraint"), HasSubstr("n7")));
  EXPECT_THAT(said_, HasSubstr("of another kind than this run's, given back"));
}

TEST_F(FleetTest, JoiningAnotherNodeIsRefused) {
  FleetOptions two = options();
  two.join = {"env", "SLURMD_NODENAME=n8"};
  Fleet fleet(two);
  EXPECT_THAT(refused(fleet, spec(fake_argv("{}"))), HasSubstr("led to node n8, not to n7"));
}

}  // namespace
}  // namespace fiel
