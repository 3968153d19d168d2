// Every way in which a worker can break the protocol or break down costs one Failure of the right
// kind, in bounded time, and leaves nothing behind (WorkerTest checks that).
#include <gmock/gmock.h>

#include <csignal>

#include "pool/pool_fixture.h"

namespace fiel {
namespace {

struct FaultCase {
  std::string name;
  std::string fault;  // without the braces
  FailureKind kind;
  std::string phase;
};

void PrintTo(const FaultCase& fault, std::ostream* out) { *out << fault.fault; }

class FaultTest : public WorkerTest, public ::testing::WithParamInterface<FaultCase> {};

TEST_P(FaultTest, CostsOneFailureAndLeavesNothing) {
  const FaultCase& fault = GetParam();
  const bool waits = fault.kind == FailureKind::kTimeout;
  const double seconds = seconds_of([&] {
    const auto worker = start_fake("{\"faults\":[{" + fault.fault + "}]}");
    const auto failure = drive(*worker, waits ? fault.phase : "");
    ASSERT_TRUE(failure);
    EXPECT_EQ(to_string(failure->kind), to_string(fault.kind)) << failure->message;
    EXPECT_EQ(failure->phase, fault.phase);
    EXPECT_FALSE(failure->message.empty());
  });
  EXPECT_LT(seconds, kSeconds / 2);
}

const FaultCase kFaults[] = {
    // Before and in hello: what is said and how.
    {"SpeaksBeforeHello", R"("do":"garbage","phase":"start")", FailureKind::kProtocol, "hello"},
    {"EndsBeforeHello", R"("do":"exit","phase":"start")", FailureKind::kCrash, "hello"},
    {"NeverReads", R"("do":"hang","phase":"start")", FailureKind::kTimeout, "hello"},
    {"Garbage", R"("do":"garbage","phase":"hello")", FailureKind::kProtocol, "hello"},
    {"BlankLine", R"("do":"garbage","phase":"hello","text":"")", FailureKind::kProtocol, "hello"},
    {"NoObject", R"("do":"garbage","phase":"hello","text":"[1,2]")", FailureKind::kProtocol,
     "hello"},
    {"NotANumber",
     R"("do":"garbage","phase":"hello","text":"{\"id\":1,\"type\":\"result\",\"x\":NaN}")",
     FailureKind::kProtocol, "hello"},
    {"InvalidUtf8", R"("do":"invalid_utf8","phase":"hello")", FailureKind::kProtocol, "hello"},
    {"WrongId", R"("do":"wrong_id","phase":"hello")", FailureKind::kProtocol, "hello"},
    {"UnknownType", R"("do":"unknown_type","phase":"hello")", FailureKind::kProtocol, "hello"},
    {"Flood", R"("do":"flood","phase":"hello")", FailureKind::kProtocol, "hello"},
    {"LongLine", R"("do":"long_line","phase":"hello")", FailureKind::kProtocol, "hello"},
    {"Twice", R"("do":"twice","phase":"hello")", FailureKind::kProtocol, "hello"},
    {"HalfALineThenNothing", R"("do":"half_line","phase":"build")", FailureKind::kTimeout, "build"},
    {"HalfALineThenEnd", R"("do":"half_line","phase":"build","status":0)", FailureKind::kCrash,
     "build"},
    {"LogWithoutEnd", R"("do":"print","phase":"build","bytes":200000000)", FailureKind::kProtocol,
     "build"},
    {"OtherProtocol", R"("do":"answer","phase":"hello","merge":{"protocol":2})",
     FailureKind::kProtocol, "hello"},
    // How it ends.
    {"Crash", R"("do":"crash","phase":"build","signal":11)", FailureKind::kCrash, "build"},
    {"Abort", R"("do":"crash","phase":"load","signal":6)", FailureKind::kCrash, "load"},
    {"ExitZero", R"("do":"exit","phase":"infer")", FailureKind::kCrash, "infer"},
    {"ExitAfterAnswer", R"("do":"exit","phase":"load","after_answer":true)", FailureKind::kCrash,
     "infer"},
    {"ClosesItsOutput", R"("do":"close_output","phase":"build")", FailureKind::kCrash, "build"},
    {"Hangs", R"("do":"hang","phase":"measure")", FailureKind::kTimeout, "measure"},
    {"HangsIgnoringSigterm", R"("do":"hang","phase":"build","ignore_sigterm":true)",
     FailureKind::kTimeout, "build"},
    {"GrandchildHoldsThePipe",
     R"("do":"hang","phase":"build","ignore_sigterm":true,"grandchild":true)",
     FailureKind::kTimeout, "build"},
    {"GrandchildLeavesTheGroup",
     R"("do":"hang","phase":"build","ignore_sigterm":true,"grandchild":true,"escape":true)",
     FailureKind::kTimeout, "build"},
    {"StopsItself", R"("do":"stop","phase":"load")", FailureKind::kTimeout, "load"},
    // Errors in its own words.
    {"Unsupported", R"("do":"error","phase":"build","reason":"unsupported")",
     FailureKind::kUnsupported, "build"},
    {"BuildError", R"("do":"error","phase":"build","reason":"build_error")",
     FailureKind::kBuildError, "build"},
    {"SaysOutOfMemory", R"("do":"error","phase":"load","reason":"out_of_memory")",
     FailureKind::kOutOfMemory, "load"},
    {"BadRequest", R"("do":"error","phase":"infer","reason":"bad_request")", FailureKind::kProtocol,
     "infer"},
    {"InternalWhileBuilding", R"("do":"error","phase":"build","reason":"internal")",
     FailureKind::kBuildError, "build"},
    {"InternalWhileRunning", R"("do":"error","phase":"measure","reason":"internal")",
     FailureKind::kCrash, "measure"},
    {"UnknownReason", R"("do":"error","phase":"build","reason":"mood")", FailureKind::kProtocol,
     "build"},
    // Lies in answers.
    {"NegativeBuildTime", R"("do":"answer","phase":"build","merge":{"build_seconds":-1})",
     FailureKind::kProtocol, "build"},
    {"NoBuildTime", R"("do":"answer","phase":"build","merge":{"build_seconds":null})",
     FailureKind::kProtocol, "build"},
    {"HugeLoadTime", R"("do":"answer","phase":"load","merge":{"load_seconds":"long"})",
     FailureKind::kProtocol, "load"},
    {"NoOutputs", R"("do":"answer","phase":"load","merge":{"outputs":[]})", FailureKind::kProtocol,
     "load"},
    {"ManyRequests", R"("do":"answer","phase":"load","merge":{"parallel_requests":1000000})",
     FailureKind::kProtocol, "load"},
    {"MissingSample", R"("do":"missing_sample","phase":"infer")", FailureKind::kProtocol, "infer"},
    {"RepeatedSample", R"("do":"extra_sample","phase":"infer")", FailureKind::kProtocol, "infer"},
    {"MissingFile", R"("do":"missing_file","phase":"infer")", FailureKind::kProtocol, "infer"},
    {"FileBehindALink", R"("do":"link_file","phase":"infer")", FailureKind::kProtocol, "infer"},
    {"FileOutside", R"("do":"bad_name","phase":"infer")", FailureKind::kProtocol, "infer"},
    {"OtherOutputsForSomeSamples",
     R"("do":"extra_output","phase":"infer","samples":{"modulo":4,"is":1})", FailureKind::kProtocol,
     "infer"},
    {"OnlyAtBatchTwo", R"("do":"missing_sample","phase":"infer","batch":2)", FailureKind::kProtocol,
     "infer"},
    {"LatencyNaN", R"("do":"latencies","phase":"measure","values":"nan")", FailureKind::kProtocol,
     "measure"},
    {"LatencyNegative", R"("do":"latencies","phase":"measure","values":"negative")",
     FailureKind::kProtocol, "measure"},
    {"LatencyZero", R"("do":"latencies","phase":"measure","values":"zero")", FailureKind::kProtocol,
     "measure"},
    {"LatencyInfinite", R"("do":"latencies","phase":"measure","values":"infinite")",
     FailureKind::kProtocol, "measure"},
    {"LatenciesTooFew", R"("do":"latencies","phase":"measure","values":"short")",
     FailureKind::kProtocol, "measure"},
    {"LatenciesTooMany", R"("do":"latencies","phase":"measure","values":"long")",
     FailureKind::kProtocol, "measure"},
    {"LatenciesEmpty", R"("do":"latencies","phase":"measure","values":"empty")",
     FailureKind::kProtocol, "measure"},
    {"LatenciesMissing", R"("do":"latencies","phase":"measure","values":"missing")",
     FailureKind::kProtocol, "measure"},
    {"LatenciesCut", R"("do":"latencies","phase":"measure","values":"cut")", FailureKind::kProtocol,
     "measure"},
    {"LatenciesBehindALink", R"("do":"latencies","phase":"measure","values":"link")",
     FailureKind::kProtocol, "measure"},
    {"NegativeCount", R"("do":"answer","phase":"measure","merge":{"count":-1})",
     FailureKind::kProtocol, "measure"},
    {"HugeCount", R"("do":"answer","phase":"measure","merge":{"count":1e30})",
     FailureKind::kProtocol, "measure"},
    {"NoTime", R"("do":"answer","phase":"measure","merge":{"seconds":0})", FailureKind::kProtocol,
     "measure"},
    {"MoreWarmups", R"("do":"answer","phase":"measure","merge":{"warmup_seconds":[1,1,1]})",
     FailureKind::kProtocol, "measure"},
    {"NoTimedOutputs", R"("do":"answer","phase":"measure","merge":{"outputs":[]})",
     FailureKind::kProtocol, "measure"},
};

INSTANTIATE_TEST_SUITE_P(All, FaultTest, ::testing::ValuesIn(kFaults),
                         [](const auto& each) { return each.param.name; });

TEST_F(WorkerTest, AWorkerThatSaysMoreAfterItsAnswerIsCaughtThenOrAtTheNextRequest) {
  const auto worker =
      start_fake(R"({"faults":[{"do":"garbage","phase":"hello","after_answer":true}]})");
  const auto failure = drive(*worker);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, FailureKind::kProtocol);
  EXPECT_FALSE(worker->alive());
}

TEST_F(WorkerTest, ACrashTellsSignalStatusAndLastWords) {
  const auto worker = start_fake(R"({"faults":[
      {"do":"print","phase":"build","text":"assertion \u001b[31mfailed\u001b[0m\n"},
      {"do":"crash","phase":"build","signal":6}]})");
  const auto failure = drive(*worker);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->signal, SIGABRT);
  EXPECT_FALSE(failure->exit_status);
  EXPECT_EQ(failure->log_tail, "assertion failed\n");
  const auto other = start_fake(R"({"faults":[{"do":"exit","phase":"build","status":3}]})");
  const auto exited = drive(*other);
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->exit_status, 3);
}

TEST_F(WorkerTest, AnErrorInItsOwnWordsKeepsTheWorkerAlive) {
  const auto worker = start_fake(
      R"({"faults":[{"do":"error","phase":"build","reason":"unsupported","message":"no such layer"}]})");
  const auto failure = drive(*worker);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->message, "no such layer");
  EXPECT_TRUE(worker->alive());
  value_of(request_hello(*worker, kSeconds));
}

TEST_F(WorkerTest, AboveItsMemoryCapItIsKilled) {
  auto with_cap =
      spec(fake_argv(R"({"faults":[{"do":"leak","phase":"infer","bytes":400000000}]})"));
  with_cap.memory_limit_bytes = std::int64_t{100} << 20;
  const auto worker = start(with_cap);
  const auto failure = drive(*worker);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, FailureKind::kOutOfMemory);
  EXPECT_EQ(failure->phase, "infer");
  EXPECT_GT(worker->usage().peak_memory_bytes, *with_cap.memory_limit_bytes);
}

TEST_F(WorkerTest, ADeadWorkerAnswersWithAFailure) {
  const auto worker = start_fake(R"({"faults":[{"do":"crash","phase":"hello"}]})");
  drive(*worker);
  EXPECT_FALSE(worker->alive());
  const auto again = request_hello(*worker, kSeconds);
  ASSERT_TRUE(std::holds_alternative<Failure>(again));
  EXPECT_EQ(std::get<Failure>(again).kind, FailureKind::kCrash);
}

}  // namespace
}  // namespace fiel
