// The promise that no poisoned answer gets through the gate: every kind of it, in every dtype, under every tensor rule however
// wide. A poisoned candidate is rejected, or the reference that can't tell is called mistrusted; none is ever ranked.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/files.h"
#include "gate/gate.h"
#include "gate/reference.h"
#include "gate/testing.h"
#include "proof/proofs.h"

namespace fiel {
namespace {

using testing::kAllDTypes;
using testing::kAllMetrics;
using testing::kInfinity;
using testing::kNaN;
using testing::make_tensor;
using testing::widest;

constexpr int kSamples = 8;
constexpr int kPoisoned = 5;  // the sample that the poison is planted in
// A row with its peak at the sample's class; small whole numbers, so that every dtype but bool holds them.
std::vector<double> row(int i) {
  std::vector<double> values{1, 2, 1, 2, 1};
  values[static_cast<std::size_t>(i % 5)] = 5;
  return values;
}

// In bool the answer is which of the five places are true: all but one, so that there is something to lose.
std::vector<double> row_of(DType dtype, int i) {
  std::vector<double> values = row(i);
  if (dtype == DType::kBool) std::ranges::transform(values, values.begin(), [](double x) { return x == 5 ? 0.0 : 1.0; });
  return values;
}

SampleOutputs right(DType dtype, int i) {
  SampleOutputs outputs{.index = i, .tensors = {}};
  outputs.tensors.emplace("y", make_tensor(dtype, {1, 5}, row_of(dtype, i)));
  outputs.tensors.emplace("z", make_tensor(DType::kFloat32, {1, 2}, {0.25, static_cast<double>(i)}));
  return outputs;
}

struct Poison {
  std::string name;
  std::function<void(SampleOutputs& outputs, DType dtype)> plant;
  bool is_everywhere = false;
};

Poison in_place(std::string name, double value, std::size_t count) {
  return {std::move(name), [value, count](SampleOutputs& outputs, DType dtype) {
            std::vector<double> values = row_of(dtype, outputs.index);
            std::fill_n(values.begin(), count, value);
            outputs.tensors["y"] = make_tensor(dtype, {1, 5}, values);
          }};
}

std::vector<Poison> poisons(DType dtype) {
  std::vector<Poison> all{
      {"missing", [](SampleOutputs& outputs, DType) { outputs.tensors.erase("y"); }},
      {"extra", [](SampleOutputs& outputs, DType type) { outputs.tensors.emplace("w", make_tensor(type, {1}, {1})); }},
      {"reshaped", [](SampleOutputs& outputs, DType) { outputs.tensors["y"].shape = {5, 1}; }},
      {"cut", [](SampleOutputs& outputs, DType type) { outputs.tensors["y"] = make_tensor(type, {1, 4}, {1, 2, 1, 2}); }},
      {"retyped",
       [](SampleOutputs& outputs, DType type) {
         outputs.tensors["y"] = make_tensor(type == DType::kFloat16 ? DType::kBFloat16 : DType::kFloat16, {1, 5}, row(outputs.index));
       }},
      {"swapped", [](SampleOutputs& outputs, DType) { std::swap(outputs.tensors["y"], outputs.tensors["z"]); }},
      {"all zeros",
       [](SampleOutputs& outputs, DType type) { outputs.tensors["y"] = make_tensor(type, {1, 5}, {0, 0, 0, 0, 0}); }, true},
      {"another sample's",
       [](SampleOutputs& outputs, DType type) { outputs.tensors["y"] = right(type, outputs.index + 1).tensors["y"]; }, true}};
  if (!is_floating(dtype)) return all;
  all.push_back(in_place("all NaN", kNaN, 5));
  all.push_back(in_place("one NaN", kNaN, 1));
  all.push_back(in_place("+Inf", kInfinity, 1));
  all.push_back(in_place("-Inf", -kInfinity, 1));
  return all;
}

struct PoisonGround {
  Contract contract;
  SampleSet set;
  TempFolder folder = TempFolder::create({}, "fiel-poison-").value();

  PoisonGround() {
    set.source = folder.path();
    set.digest = "set";
    for (int i = 0; i < kSamples; ++i) {
      Sample& sample = set.samples.emplace_back();
      sample.id = fmt::format("s{}", i);
    }
    TaskRule task;
    task.name = "agreement";
    task.builtin = BuiltinEvaluator::kAgreement;
    task.output = "y";
    task.margin.max_drop = 0.02;
    contract.accuracy.tasks = {task};
  }

  ReferenceStore reference(const std::function<SampleOutputs(int)>& answer) const {
    ReferenceStore store = ReferenceStore::create(contract, set, folder.path() / "reference.pack", folder.path() / "scratch", -1).value();
    for (int i = 0; i < kSamples; ++i) {
      const SampleOutputs outputs = answer(i);
      FIEL_CHECK(store.add(std::span(&outputs, 1)).has_value());
    }
    FIEL_CHECK(store.finish().has_value());
    return store;
  }

  GateResult judge(const ReferenceStore& reference, const std::function<SampleOutputs(int)>& answer) const {
    Judge judge(contract, set, reference, folder.path() / "scratch", -1);
    for (int i = 0; i < kSamples; ++i) {
      const SampleOutputs outputs = answer(i);
      FIEL_CHECK(judge.add(std::span(&outputs, 1)).has_value());
    }
    return judge.judge_tuning();
  }
};

Finding none(std::string what, int accepted, int judged) {
  return {std::move(what), fmt::format("{} of {}", accepted, judged), "none", accepted == 0 && judged > 0};
}

Findings poisoned_answers(int) {
  PoisonGround ground;
  int judged = 0, accepted = 0, refused_clean = 0, clean = 0;
  for (const DType dtype : kAllDTypes) {
    const auto clean_answer = [dtype](int i) { return right(dtype, i); };
    ground.contract.accuracy.tensors.clear();
    const ReferenceStore reference = ground.reference(clean_answer);
    for (const TensorMetric metric : kAllMetrics) {
      ground.contract.accuracy.tensors = {widest(metric)};
      ++clean;
      refused_clean += ground.judge(reference, clean_answer).status == GateStatus::kAdmissible ? 0 : 1;
      for (const Poison& poison : poisons(dtype)) {
        const GateResult result = ground.judge(reference, [&](int i) {
          SampleOutputs outputs = right(dtype, i);
          if (poison.is_everywhere || i == kPoisoned) poison.plant(outputs, dtype);
          return outputs;
        });
        ++judged;
        accepted += result.status == GateStatus::kRejected ? 0 : 1;
      }
    }
  }
  return {none("poisoned answers accepted (NaN, infinities, zeros, missing, extra, reshaped, cut, retyped, swapped, another "
               "sample's; 13 dtypes, 7 rules so wide that no number fails them)", accepted, judged),
          none("nor is the gate simply shut: clean answers refused", refused_clean, clean)};
}

Findings constant_references(int) {
  PoisonGround ground;
  int trusted = 0;
  for (const DType dtype : kAllDTypes) {
    const ReferenceStore reference = ground.reference([dtype](int i) {
      SampleOutputs outputs = right(dtype, i);
      outputs.tensors["y"] = make_tensor(dtype, {1, 5}, {1, 1, 1, 1, 1});
      return outputs;
    });
    trusted += reference.mistrusted().contains("y") ? 0 : 1;
  }
  return {none("constant references whose tensor rule is trusted", trusted, static_cast<int>(kAllDTypes.size()))};
}

// As fast code is often written: std::max drops NaN, and a comparison with NaN is false.
Findings careless_rule(int) {
  int accepted = 0, judged = 0;
  for (std::size_t poisoned = 1; poisoned <= 5; ++poisoned) {
    double worst = 0;
    for (std::size_t i = 0; i < 5; ++i) worst = std::max(worst, std::abs((i < poisoned ? kNaN : 1.0) - 1.0));
    ++judged;
    accepted += worst > 1e-6 ? 0 : 1;
  }
  return {{"ablation: `if (max_error > bound) reject` accepts answers with NaN", fmt::format("{} of {}", accepted, judged), "some",
           accepted > 0}};
}

}  // namespace

std::vector<StatisticalProof> poison_proofs() {
  return {{"T7", "Poisoned answers are never admissible", poisoned_answers, 1, 1},
          {"T7", "A reference that can't tell is mistrusted", constant_references, 1, 1},
          {"T7", "A rule that NaN slips through", careless_rule, 1, 1}};
}

}  // namespace fiel
