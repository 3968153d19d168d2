// Does the scripted engine do what its page says? Everything else that is tested with it stands on
// this.
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/rng.h"
#include "model/npy.h"
#include "pool/pool_fixture.h"

namespace fiel {
namespace {

const std::string kClasses = R"("outputs":[{"name":"logits","dtype":"float32","shape":[-1,10]}])";
const std::string kStreams =
    R"("knobs":[{"name":"STREAMS","kind":"property","values":["1","2"],"default":"1","parallel_requests":{"2":2}}])";

class FakeEngineTest : public WorkerTest {
 protected:
  /// The latencies of one block in a fresh process.
  std::vector<double> latencies(const std::string& script, std::uint64_t seed,
                                const std::map<std::string, std::string>& settings = {}) {
    const auto worker = start_fake(script);
    bring_up(*worker, settings);
    return value_of(request_measure(*worker, measure_order(seed), kSeconds)).latencies_seconds;
  }

  static Tensor read(const OutputFiles& outputs, const std::string& name) {
    return read_npy(outputs.files.at(name)).value();
  }

  static int argmax(const Tensor& tensor) {
    int best = 0;
    for (int k = 1; k < tensor.shape.back(); ++k) {
      if (element(tensor.view(), k) > element(tensor.view(), best)) best = k;
    }
    return best;
  }

  /// Samples among all eight whose class is not the one that their input names.
  std::set<int> wrong_samples(Worker& worker) {
    std::set<int> wrong;
    const auto inferred =
        value_of(request_infer(worker, infer_order({0, 1, 2, 3, 4, 5, 6, 7}), kSeconds));
    for (const OutputFiles& outputs : inferred.outputs) {
      if (argmax(read(outputs, "logits")) != outputs.index) wrong.insert(outputs.index);
    }
    return wrong;
  }

  std::unique_ptr<Worker> ready(const std::string& script) {
    auto worker = start_fake(script);
    bring_up(*worker);
    return worker;
  }
};

TEST_F(FakeEngineTest, TheExampleOfItsPageRuns) {
  const std::string page = read_text(FIEL_SOURCE_DIR "/docs/fake-engine.md").value();
  const std::size_t start = page.find("```json\n") + 8;
  const std::string example = page.substr(start, page.find("```", start) - start);
  const auto worker = start_fake(example);
  const auto failure = drive(*worker);
  EXPECT_FALSE(failure) << failure->message << failure->log_tail;
}

TEST_F(FakeEngineTest, AWrongScriptIsSaidInTheLog) {
  const auto worker = start_fake(R"({"latenzy":1})");
  const auto failure = drive(*worker);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->exit_status, 2);
  EXPECT_THAT(failure->log_tail, ::testing::HasSubstr("unknown key \"latenzy\""));
}

TEST_F(FakeEngineTest, TheSameSeedsGiveTheSameLatenciesInAnyProcess) {
  const std::string script =
      "{" + kStreams +
      R"(,"noise":{"sigma":0.1,"process_sigma":0.1,"ar1_rho":0.5,"ar1_sigma":0.1}})";
  const auto first = latencies(script, 5);
  EXPECT_EQ(latencies(script, 5), first);
  EXPECT_NE(latencies(script, 6), first);
  EXPECT_NE(latencies(script, 5, {{"STREAMS", "2"}}), first);
}

TEST_F(FakeEngineTest, KnobsAndInteractionsMultiply) {
  const std::string script = R"({"latency_seconds":0.01,
    "knobs":[{"name":"A","kind":"property","values":["0","1"],"default":"0","latency":{"1":0.5}},
             {"name":"B","kind":"property","values":["0","1"],"default":"0","latency":{"1":3}}],
    "interactions":[{"when":{"A":"1","B":"1"},"latency":0.1}]})";
  EXPECT_NEAR(latencies(script, 1)[0], 0.01, 1e-12);
  EXPECT_NEAR(latencies(script, 1, {{"A", "1"}})[0], 0.005, 1e-12);
  EXPECT_NEAR(latencies(script, 1, {{"A", "1"}, {"B", "1"}})[0], 0.0015, 1e-12);
}

TEST_F(FakeEngineTest, CommonNoiseIsTheSameForAllThatShareASeed) {
  const std::string script = "{" + kStreams + R"(,"noise":{"common_sigma":0.1}})";
  const double plain = latencies(script, 5)[0];
  EXPECT_NE(plain, 0.001);
  EXPECT_NEAR(latencies(script, 5, {{"STREAMS", "2"}})[0], plain, 1e-12);
}

TEST_F(FakeEngineTest, NoiseHasTheDeviationAsked) {
  auto order = measure_order();
  order.min_count = 4000;
  order.max_seconds = 1000;
  const auto worker = ready(R"({"noise":{"sigma":0.1}})");
  const auto measured = value_of(request_measure(*worker, order, kSeconds));
  double sum = 0, squares = 0;
  for (const double latency : measured.latencies_seconds) {
    const double x = std::log(latency / 0.001);
    sum += x;
    squares += x * x;
  }
  const double n = static_cast<double>(measured.count);
  EXPECT_NEAR(sum / n, 0, 0.008);  // five standard errors
  EXPECT_NEAR(std::sqrt(squares / n), 0.1, 0.006);
}

TEST_F(FakeEngineTest, OfflineKeepsParallelRequestsBusy) {
  const auto worker = start_fake("{" + kStreams + R"(,"batch_cost":0.5})");
  bring_up(*worker, {{"STREAMS", "2"}});
  auto order = measure_order();
  order.scenario = Scenario::kOffline;
  order.batch = 3;
  order.min_count = 10;
  order.min_seconds = 0;
  const auto measured = value_of(request_measure(*worker, order, kSeconds));
  EXPECT_EQ(measured.count, 3 * std::ssize(measured.latencies_seconds));
  EXPECT_NEAR(measured.latencies_seconds[0], 0.002, 1e-12);
  EXPECT_NEAR(measured.seconds, 0.002 * 5, 1e-9);  // ten batches, two at a time
}

// Of a queue with Poisson arrivals, one server and a service that always takes s, requests wait
// rho / (2 (1 - rho)) s on average (Pollaczek and Khinchine).
TEST_F(FakeEngineTest, AServerQueueWaitsAsQueueingTheorySays) {
  const auto worker = ready("{}");  // a service of 1 ms
  for (const double rho : {0.5, 0.8}) {
    auto order = measure_order();
    order.scenario = Scenario::kServer;
    order.max_seconds = 1e6;
    Rng rng(5);
    double at = 0;
    for (int i = 0; i < 100'000; ++i) order.arrivals_seconds.push_back(at += 0.001 / rho * rng.exponential());
    const auto measured = value_of(request_measure(*worker, order, kSeconds));
    ASSERT_EQ(measured.count, 100'000);
    double wait = 0;
    for (const double latency : measured.latencies_seconds) wait += latency - 0.001;
    const double theory = rho / (2 * (1 - rho)) * 0.001;
    EXPECT_NEAR(wait / 100'000 / theory, 1, 0.04) << rho;
  }
}

TEST_F(FakeEngineTest, AServerThatIsTooSlowIsCutShortAndSecondRequestsHelp) {
  auto order = measure_order();
  order.scenario = Scenario::kServer;
  order.max_seconds = 0.1;
  for (int i = 0; i < 200; ++i) order.arrivals_seconds.push_back(0.0005 * i);  // twice too many
  const auto one = start_fake("{" + kStreams + "}");
  bring_up(*one, {{"STREAMS", "1"}});
  EXPECT_EQ(value_of(request_measure(*one, order, kSeconds)).count, 100);
  const auto two = start_fake("{" + kStreams + "}");
  bring_up(*two, {{"STREAMS", "2"}});
  const auto measured = value_of(request_measure(*two, order, kSeconds));
  EXPECT_EQ(measured.count, 200);
  EXPECT_NEAR(measured.latencies_seconds.back(), 0.001, 1e-9);
  EXPECT_EQ(value_of(request_measure(*two, order, kSeconds)).latencies_seconds, measured.latencies_seconds);
}

TEST_F(FakeEngineTest, TheClassIsTheInputsFirstElement) {
  const auto worker = ready("{" + kClasses + "}");
  EXPECT_EQ(wrong_samples(*worker), std::set<int>{});
}

TEST_F(FakeEngineTest, AShareOrASliceOfSamplesIsWrong) {
  const auto share = ready("{" + kClasses + R"(,"faults":[{"do":"flip","share":0.5}]})");
  const std::set<int> wrong = wrong_samples(*share);
  EXPECT_GT(wrong.size(), 0u);
  EXPECT_LT(wrong.size(), 8u);
  EXPECT_EQ(wrong_samples(*share), wrong);  // drawn once and for all
  const auto slice =
      ready("{" + kClasses + R"(,"faults":[{"do":"flip","samples":{"modulo":4,"is":1}}]})");
  EXPECT_EQ(wrong_samples(*slice), (std::set<int>{1, 5}));
}

TEST_F(FakeEngineTest, WrongOnlyInTimedProcesses) {
  const auto worker = ready("{" + kClasses + R"(,"faults":[{"do":"flip","only_timed":true}]})");
  EXPECT_EQ(wrong_samples(*worker).size(), 0u);
  const auto measured = value_of(request_measure(*worker, measure_order(), kSeconds));
  EXPECT_NE(argmax(read(measured.outputs[0], "logits")), measured.outputs[0].index);
  EXPECT_EQ(wrong_samples(*worker).size(), 8u);
}

TEST_F(FakeEngineTest, WrongOnlyInTheSecondProcessOfARoute) {
  const std::string script = "{" + kClasses +
                             R"(,"faults":[{"do":"flip","processes":[2,2]}],"state_folder":")" +
                             (folder_.path() / "state").string() + "\"}";
  std::vector<std::size_t> wrong;
  for (int process = 0; process < 3; ++process)
    wrong.push_back(wrong_samples(*ready(script)).size());
  EXPECT_EQ(wrong, (std::vector<std::size_t>{0, 8, 0}));
}

TEST_F(FakeEngineTest, WrongOnlyAtBatchTwoAndOnlyFromTheNthInferenceOn) {
  const auto worker = ready(R"({"faults":[{"do":"non_finite","batch":2,"elements":"all"}]})");
  const auto one = value_of(request_infer(*worker, infer_order({1, 2}), kSeconds));
  EXPECT_EQ(element(read(one.outputs[0], "y").view(), 0), 2);
  const auto two = value_of(request_infer(*worker, infer_order({1, 2}, 2), kSeconds));
  EXPECT_TRUE(std::isnan(element(read(two.outputs[1], "y").view(), 3)));
  const auto later = ready(R"({"faults":[{"do":"non_finite","value":"-inf","from_inference":3}]})");
  const auto four = value_of(request_infer(*later, infer_order({1, 2, 3, 4}), kSeconds));
  const auto infinities = [&](std::size_t i) {
    int count = 0;
    for (int k = 0; k < 4; ++k)
      count += std::isinf(element(read(four.outputs[i], "y").view(), k)) ? 1 : 0;
    return count;
  };
  EXPECT_EQ(infinities(2), 0);
  EXPECT_EQ(infinities(3), 1);
}

TEST_F(FakeEngineTest, NamesShapesAndDtypesCanBeWrong) {
  const auto infer_one = [&](const std::string& fault) {
    const auto worker = ready("{\"faults\":[{" + fault + "}]}");
    auto outputs = value_of(request_infer(*worker, infer_order({3}), kSeconds)).outputs.at(0);
    std::map<std::string, Tensor> tensors;
    for (const auto& [name, path] : outputs.files) tensors[name] = read_npy(path).value();
    return tensors;
  };
  EXPECT_EQ(infer_one(R"("do":"shape")").at("y").shape, (Shape{1, 1, 4}));
  EXPECT_EQ(infer_one(R"("do":"shape","shape":[1,3])").at("y").shape, (Shape{1, 3}));
  const Tensor wide = infer_one(R"("do":"dtype","dtype":"float64")").at("y");
  EXPECT_EQ(wide.dtype, DType::kFloat64);
  EXPECT_EQ(element(wide.view(), 0), 6);
  EXPECT_EQ(infer_one(R"("do":"extra_output")").count("extra"), 1u);
  EXPECT_EQ(element(infer_one(R"("do":"zeros")").at("y").view(), 0), 0);
}

TEST_F(FakeEngineTest, ShiftGivesEachSampleTheNextOnesOutputs) {
  const auto worker = ready(R"({"faults":[{"do":"shift"}]})");
  const auto inferred = value_of(request_infer(*worker, infer_order({1, 6}), kSeconds));
  EXPECT_EQ(element(read(inferred.outputs[0], "y").view(), 0), 12);
  EXPECT_EQ(element(read(inferred.outputs[1], "y").view(), 0), 2);
}

TEST_F(FakeEngineTest, AWrongDigestAndAnEffectlessKnobShowInTheReports) {
  const std::string script =
      R"({"knobs":[{"name":"NIL","kind":"property","values":["0","1"],"default":"0","has_effect":false}],
                                 "faults":[{"do":"answer","phase":"load","merge":{"graph_digest":"0"}}]})";
  const auto worker = start_fake(script);
  const auto plain = value_of(request_build(*worker, build_order(), kSeconds));
  const auto same = value_of(request_build(*worker, build_order({{"NIL", "1"}}), kSeconds));
  EXPECT_EQ(plain.effective.graph_digest, same.effective.graph_digest);
  EXPECT_EQ(same.effective.ignored, std::vector<std::string>{"NIL"});
  const auto loaded = value_of(request_load(*worker, load_order({{"NIL", "1"}}), kSeconds));
  EXPECT_EQ(loaded.effective.graph_digest, "0");
}

TEST_F(FakeEngineTest, UnknownSettingsAreUnsupported) {
  const auto worker = start_fake();
  const auto answer = request_build(*worker, build_order({{"NOPE", "1"}}), kSeconds);
  ASSERT_TRUE(std::holds_alternative<Failure>(answer));
  EXPECT_EQ(std::get<Failure>(answer).kind, FailureKind::kUnsupported);
}

}  // namespace
}  // namespace fiel
