#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "gate/gate.h"
#include "gate/reference.h"
#include "gate/testing.h"
#include "model/test_folder.h"

namespace fiel {
namespace {

using testing::floats;
using testing::integers;
using testing::kInfinity;
using testing::kNaN;
using testing::make_tensor;
using ::testing::HasSubstr;

/// A classifier's set: `n` samples of four classes, the reference always right, the last quarter in slice "hard".
class Gate : public ::testing::Test {
 protected:
  void make_set(int n) {
    set_.source = folder_.path();
    set_.digest = "set";
    for (int i = 0; i < n; ++i) {
      Sample sample;
      sample.id = "s" + std::to_string(i);
      sample.label = std::to_string(i % 4);
      sample.slice = 4 * i >= 3 * n ? "hard" : "clean";
      set_.samples.push_back(sample);
    }
    TaskRule task;
    task.name = "accuracy";
    task.builtin = BuiltinEvaluator::kTop1;
    task.output = "y";
    task.margin.max_drop = 0.02;
    contract_.accuracy.tasks = {task};
  }

  /// Scores peak at the sample's class; `ids` is an integer output beside them.
  static SampleOutputs right(int i) {
    SampleOutputs outputs{.index = i, .tensors = {}};
    std::vector<double> scores{0.1, 0.2, 0.05, 0.15};
    scores[static_cast<std::size_t>(i % 4)] = 0.5 + 0.001 * i;
    outputs.tensors.emplace("y", floats(scores));
    outputs.tensors.emplace("ids", integers({(std::int64_t{1} << 53) + 1, i}));
    return outputs;
  }
  static SampleOutputs wrong(int i) {
    SampleOutputs outputs = right(i);
    outputs.tensors["y"] = right(i + 1).tensors["y"];
    return outputs;
  }

  ReferenceStore make_reference() {
    auto store = ReferenceStore::create(contract_, set_, folder_ / "reference.pack", folder_ / "scratch", -1);
    EXPECT_TRUE(store);
    for (int i = 0; i < static_cast<int>(set_.samples.size()); ++i) {
      const SampleOutputs outputs = right(i);
      const auto added = store->add(std::span(&outputs, 1));
      EXPECT_TRUE(added) << added.error().message;
    }
    const auto finished = store->finish();
    EXPECT_TRUE(finished) << finished.error().message;
    return std::move(*store);
  }

  Judge judge(const ReferenceStore& reference) { return {contract_, set_, reference, folder_ / "scratch", -1}; }

  /// The verdict on the tuning set of a candidate that answers as `answer` says.
  template <class Answer>
  GateResult tune(Answer answer) {
    const ReferenceStore reference = make_reference();
    Judge one = judge(reference);
    for (int i = 0; i < static_cast<int>(set_.samples.size()); ++i) add(one, answer(i));
    return one.judge_tuning();
  }
  static void add(Judge& judge, const SampleOutputs& outputs) {
    const auto added = judge.add(std::span(&outputs, 1));
    ASSERT_TRUE(added) << added.error().message << '\n' << added.error().hint;
  }

  TestFolder folder_;
  Contract contract_;
  SampleSet set_;
};

TEST_F(Gate, TheReferenceItselfIsAdmissibleAndTheResultSurvivesItsJson) {
  make_set(40);
  contract_.accuracy.tasks[0].slices["hard"].max_drop = 0.1;
  contract_.accuracy.tasks[0].margin.min_score = 0.5;
  const GateResult result = tune(right);
  EXPECT_EQ(result.status, GateStatus::kAdmissible) << result.message;
  EXPECT_EQ(result.margin_left, 1.0);
  EXPECT_EQ(result.samples_seen, 40);
  ASSERT_EQ(result.tasks.size(), 3U);  // overall, clean (reported only), hard
  EXPECT_EQ(result.tasks[2].slice, "hard");
  EXPECT_EQ(result.tasks[2].n, 10);
  const Json json = to_json(result);
  EXPECT_EQ(to_json(gate_result_from_json(json).value()), json);
  Json newer = json;
  newer["status"] = "splendid";
  EXPECT_FALSE(gate_result_from_json(newer));
}

TEST_F(Gate, EveryPlantedFaultIsRejectedWithItsReason) {
  make_set(40);
  struct Planted {
    const char* name;
    GateReason reason;
    std::function<void(SampleOutputs&)> plant;
    const char* words;
  };
  const auto poison = [](double value) {
    return [value](SampleOutputs& outputs) {
      outputs.tensors["y"] = floats({0.1, value, 0.2, 0.9});
    };
  };
  const std::vector<Planted> faults{
      {"one NaN", GateReason::kNonFinite, poison(kNaN), "candidate nan"},
      {"+Inf", GateReason::kNonFinite, poison(kInfinity), "candidate inf"},
      {"all NaN", GateReason::kNonFinite,
       [](SampleOutputs& outputs) { outputs.tensors["y"] = floats({kNaN, kNaN, kNaN, kNaN}); }, "sample s7"},
      {"missing", GateReason::kWrongOutput, [](SampleOutputs& outputs) { outputs.tensors.erase("ids"); },
       "output ids is missing"},
      {"extra", GateReason::kWrongOutput,
       [](SampleOutputs& outputs) { outputs.tensors.emplace("z", floats({1})); }, "output z is extra"},
      {"renamed", GateReason::kWrongOutput,
       [](SampleOutputs& outputs) {
         auto node = outputs.tensors.extract("y");
         node.key() = "Y";
         outputs.tensors.insert(std::move(node));
       },
       "output y is missing"},
      {"dtype", GateReason::kWrongOutput,
       [](SampleOutputs& outputs) { outputs.tensors["y"] = make_tensor(DType::kFloat16, {1, 4}, {0, 0, 0, 1}); },
       "float16 instead of float32"},
      {"rank", GateReason::kWrongOutput,
       [](SampleOutputs& outputs) { outputs.tensors["y"].shape = {4}; }, "shape [4]"},
      {"shape", GateReason::kWrongOutput, [](SampleOutputs& outputs) { outputs.tensors["y"] = floats({1, 2, 3}); },
       "shape [1, 3]"},
      {"swapped", GateReason::kWrongOutput,
       [](SampleOutputs& outputs) { std::swap(outputs.tensors["y"], outputs.tensors["ids"]); }, "instead of"},
      {"off by one beyond 2^53", GateReason::kTensorRule,
       [](SampleOutputs& outputs) { outputs.tensors["ids"] = integers({std::int64_t{1} << 53, 7}); },
       "1 of 2 integers differ"},
      {"unknown sample", GateReason::kWrongOutput, [](SampleOutputs& outputs) { outputs.index = 40; },
       "sample number 40"}};
  for (const Planted& fault : faults) {
    const GateResult result = tune([&](int i) {
      SampleOutputs outputs = right(i);
      if (i == 7) fault.plant(outputs);
      return outputs;
    });
    EXPECT_EQ(result.status, GateStatus::kRejected) << fault.name;
    EXPECT_EQ(result.reason, fault.reason) << fault.name << ": " << result.message;
    EXPECT_THAT(result.message, HasSubstr(fault.words)) << fault.name;
  }
}

TEST_F(Gate, WrongAnswersOfEveryKindLoseTheTask) {
  make_set(40);
  const auto zeros = [](int i) {
    SampleOutputs outputs = right(i);
    outputs.tensors["y"] = floats({0, 0, 0, 0});
    return outputs;
  };
  const auto shifted = [](int i) {
    SampleOutputs outputs = right((i + 1) % 40);
    outputs.index = i;
    outputs.tensors["ids"] = right(i).tensors["ids"];
    return outputs;
  };
  for (const auto& answer : {std::function<SampleOutputs(int)>(zeros), std::function<SampleOutputs(int)>(shifted)}) {
    const GateResult result = tune(answer);
    EXPECT_EQ(result.status, GateStatus::kRejected);
    EXPECT_EQ(result.reason, GateReason::kTask);
    EXPECT_LT(*result.margin_left, 0);
  }
}

TEST_F(Gate, OneSliceThatFailsIsEnough) {
  make_set(400);
  contract_.accuracy.tasks[0].slices["hard"].max_drop = 0.02;
  const GateResult result = tune([](int i) { return i >= 396 ? wrong(i) : right(i); });
  EXPECT_EQ(result.status, GateStatus::kRejected);
  EXPECT_EQ(result.reason, GateReason::kSlice);
  EXPECT_THAT(result.message, HasSubstr("accuracy on slice hard lost 0.04 (margin 0.02, n 100)"));
}

TEST_F(Gate, ATensorRuleRejectsButNeverAdmits) {
  make_set(40);
  TensorRule rule;
  rule.output = "y";
  rule.metric = TensorMetric::kMaxAbs;
  rule.max = 0.01;
  contract_.accuracy.tensors = {rule};
  const GateResult off = tune([](int i) {
    SampleOutputs outputs = right(i);
    if (i == 3) outputs.tensors["y"] = floats({0.1, 0.2, 0.05, 0.6});
    return outputs;
  });
  EXPECT_EQ(off.reason, GateReason::kTensorRule);
  EXPECT_THAT(off.message, HasSubstr("output y of sample s3: max_abs"));
  contract_.accuracy.tensors[0].max = 10;
  EXPECT_EQ(tune(wrong).reason, GateReason::kTask);
}

TEST_F(Gate, ARuleOnAConstantReferenceIsVoidAndTheTaskDecides) {
  make_set(40);
  TensorRule rule;
  rule.output = "flat";
  rule.metric = TensorMetric::kMaxAbs;
  rule.max = 0.01;
  contract_.accuracy.tensors = {rule};
  const auto with_flat = [](int i, double value) {
    SampleOutputs outputs = right(i);
    outputs.tensors.emplace("flat", floats({value}));
    return outputs;
  };
  auto store = ReferenceStore::create(contract_, set_, folder_ / "reference.pack", folder_ / "scratch", -1);
  for (int i = 0; i < 40; ++i) {
    const SampleOutputs outputs = with_flat(i, 2);
    ASSERT_TRUE(store->add(std::span(&outputs, 1)));
  }
  ASSERT_TRUE(store->finish());
  EXPECT_THAT(store->mistrusted().at("flat"), HasSubstr("constant"));
  Judge one = judge(*store);
  for (int i = 0; i < 40; ++i) add(one, with_flat(i, 9));
  const GateResult result = one.judge_tuning();
  EXPECT_EQ(result.status, GateStatus::kAdmissible) << result.message;
  EXPECT_THAT(result.tensors.front().mistrusted, HasSubstr("constant (2) over the whole set"));
  // But a NaN is a NaN.
  Judge other = judge(*store);
  add(other, with_flat(0, kNaN));
  EXPECT_EQ(other.judge_tuning().reason, GateReason::kNonFinite);
}

TEST_F(Gate, AnEarlyLookCostsAClearlyWrongCandidateFewSamples) {
  make_set(1200);
  const ReferenceStore reference = make_reference();
  const auto order = stratified_order(set_, 1);
  const auto samples_until_rejected = [&](auto answer) {
    Judge one = judge(reference);
    for (std::size_t i = 0; i < order.size(); ++i) {
      add(one, answer(order[i]));
      const bool is_rung = i + 1 == 64 || i + 1 == 256 || i + 1 == 1024;
      if (!is_rung) continue;
      const auto rejected = one.reject_early();
      if (rejected) return rejected->samples_seen;
    }
    return std::int64_t{-1};
  };
  EXPECT_EQ(samples_until_rejected(wrong), 64);
  EXPECT_EQ(samples_until_rejected([](int i) { return i % 8 == 0 ? wrong(i) : right(i); }), 256);
  EXPECT_EQ(samples_until_rejected(right), -1);
  EXPECT_EQ(samples_until_rejected([](int i) { return i % 100 == 0 ? wrong(i) : right(i); }), -1);
}

TEST_F(Gate, AnEarlyLookThatRejectsNothingSaysNothing) {
  make_set(100);
  const ReferenceStore reference = make_reference();
  Judge one = judge(reference);
  add(one, wrong(0));  // one of one is outside every margin, and proves nothing
  EXPECT_FALSE(one.reject_early().has_value());
  EXPECT_EQ(one.judge_tuning().status, GateStatus::kRejected);
}

TEST_F(Gate, AdmissionNeedsEverySample) {
  make_set(40);
  const ReferenceStore reference = make_reference();
  Judge one = judge(reference);
  for (int i = 0; i < 39; ++i) add(one, right(i));
  EXPECT_EQ(one.judge_tuning().status, GateStatus::kUndecided);
  EXPECT_EQ(one.judge_holdout(0.05, 1).status, GateStatus::kUndecided);
  EXPECT_THAT(one.judge_tuning().message, HasSubstr("39 of 40"));
}

TEST_F(Gate, TheHoldoutProvesOrSaysHowManySamplesWould) {
  make_set(100);
  const ReferenceStore small = make_reference();
  Judge open = judge(small);
  for (int i = 0; i < 100; ++i) add(open, right(i));
  const GateResult undecided = open.judge_holdout(0.05, 1);
  EXPECT_EQ(undecided.status, GateStatus::kUndecided);
  EXPECT_EQ(undecided.reason, GateReason::kUndecided);
  // ln 0.05 / ln 0.98 = 148.3
  EXPECT_THAT(undecided.message, HasSubstr("about 149 samples would decide"));

  set_.samples.clear();
  make_set(149);
  const ReferenceStore enough = make_reference();
  Judge proven = judge(enough);
  for (int i = 0; i < 149; ++i) add(proven, right(i));
  EXPECT_EQ(proven.judge_holdout(0.05, 1).status, GateStatus::kAdmissible);
}

TEST_F(Gate, ASampleThatComesAgainKeepsTheWorseScore) {
  make_set(40);
  const ReferenceStore reference = make_reference();
  Judge one = judge(reference);
  const std::vector<SampleOutputs> chunk{right(0), wrong(0), right(0), right(1), wrong(2)};
  ASSERT_TRUE(one.add(chunk));
  EXPECT_EQ(one.scores().at("accuracy").at(0), 0);
  EXPECT_EQ(one.scores().at("accuracy").at(1), 1);
  EXPECT_EQ(one.output_bits().at(1), "reference");
  EXPECT_EQ(one.output_bits().at(2), output_digest(wrong(2)));
}

TEST_F(Gate, TheReferencesBitsHaveTheReferencesScoresAndNoEvaluatorIsRunOnThem) {
  make_set(8);
  TaskRule task;
  task.name = "mine";
  task.program = {FIEL_PYTHON, folder_.write("mine.py",
      "import json, os, sys\n"
      "names = sorted(os.listdir(sys.argv[1]))\n"
      "print(*names, file=open(__file__ + '.log', 'a'))\n"
      "for name in names:\n"
      "    print(json.dumps({'sample': name[:-4], 'score': 0.25}))\n").string()};
  task.margin.max_drop = 0.02;
  contract_.accuracy.tasks = {task};
  const ReferenceStore reference = make_reference();
  folder_.write("mine.py.log", "");
  Judge one = judge(reference);
  ASSERT_TRUE(one.add(std::vector<SampleOutputs>{right(0), wrong(1), right(2)}));
  EXPECT_EQ(folder_.read("mine.py.log"), "s1.npz\n");
  EXPECT_EQ(one.scores().at("mine"), (std::map<int, double>{{0, 0.25}, {1, 0.25}, {2, 0.25}}));
  // The next chunk's files take the place of this one's.
  ASSERT_TRUE(one.add(std::vector<SampleOutputs>{wrong(3), wrong(4)}));
  ASSERT_TRUE(one.add(std::vector<SampleOutputs>{wrong(5)}));
  EXPECT_EQ(folder_.read("mine.py.log"), "s1.npz\ns3.npz s4.npz\ns5.npz\n");
}

TEST_F(Gate, AnEvaluatorThatCannotTakeOnlyTheCandidatesOutputsRejectsIt) {
  make_set(8);
  TaskRule task;
  task.name = "mine";
  task.program = {FIEL_PYTHON, folder_.write("mine.py",
      "import json, os, sys, numpy\n"
      "for name in sorted(os.listdir(sys.argv[1])):\n"
      "    y = numpy.load(os.path.join(sys.argv[1], name))['y']\n"
      "    print(json.dumps({'sample': name[:-4], 'score': 1 / int(y.sum() > 0)}))\n").string()};
  task.margin.max_drop = 0.02;
  contract_.accuracy.tasks = {task};
  const ReferenceStore reference = make_reference();
  const auto zeros = [](int i) {
    SampleOutputs outputs = right(i);
    outputs.tensors["y"] = floats({0, 0, 0, 0});
    return outputs;
  };
  Judge one = judge(reference);
  add(one, zeros(0));
  const GateResult result = one.judge_tuning();
  EXPECT_EQ(result.status, GateStatus::kRejected);
  EXPECT_EQ(result.reason, GateReason::kTask);
  EXPECT_THAT(result.message, HasSubstr("ZeroDivisionError"));
  // The same program, broken for everyone: nobody's outputs are at fault.
  folder_.write("mine.py", "raise SystemExit(3)");
  Judge other = judge(reference);
  const SampleOutputs outputs = wrong(0);
  const auto added = other.add(std::span(&outputs, 1));
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, HasSubstr("reference's outputs of the same samples too"));
}

TEST_F(Gate, AnEvaluatorThatFailsOnTheReferenceIsTheContractsFault) {
  make_set(2);
  TaskRule task;
  task.name = "mine";
  task.program = {FIEL_PYTHON, folder_.write("mine.py", "print('hello')").string()};
  contract_.accuracy.tasks = {task};
  auto store = ReferenceStore::create(contract_, set_, folder_ / "reference.pack", folder_ / "scratch", -1);
  const SampleOutputs outputs = right(0);
  const auto added = store->add(std::span(&outputs, 1));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().kind, ErrorKind::kContract);
  EXPECT_THAT(added.error().message, HasSubstr("on the reference's own outputs"));
}

TEST_F(Gate, SeededPropertyNoCandidateBeyondTheMarginIsEverAdmitted) {
  make_set(60);
  const ReferenceStore reference = make_reference();
  Rng rng(9);
  for (int round = 0; round < 30; ++round) {
    Judge one = judge(reference);
    const int losses = static_cast<int>(rng.below(6));
    for (int i = 0; i < 60; ++i) add(one, i < losses ? wrong(i) : right(i));
    const bool inside = losses <= 1;  // 0.02 of 60 is 1.2
    EXPECT_EQ(one.judge_tuning().status == GateStatus::kAdmissible, inside) << losses;
  }
}

}  // namespace
}  // namespace fiel
