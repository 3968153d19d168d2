// [accuracy]: the reference, the tensor rules that may reject, and the tasks that decide.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/nearest.h"
#include "contract/sections.h"

namespace fiel {
namespace {

bool is_finite(double x) { return std::isfinite(x); }
bool is_distance(double x) { return x >= 0 && std::isfinite(x); }

std::vector<std::string> builtin_names() {
  return {"top1", "top5", "binary", "absolute_error", "agreement", "embedding_cosine"};
}

/// Which bound each metric has, and between which values it can lie at all.
struct MetricBound {
  std::string_view key;  // "min", "max" or "rtol"
  double low;
  double high;
  std::string_view example;
};

MetricBound bound_of(TensorMetric metric) {
  constexpr double kAny = HUGE_VAL;
  switch (metric) {
    case TensorMetric::kMaxAbs:
      return {"max", 0, kAny, "max = 0.01"};
    case TensorMetric::kMaxRel:
      return {"max", 0, kAny, "max = 0.01"};
    case TensorMetric::kL2:
      return {"max", 0, kAny, "max = 0.01"};
    case TensorMetric::kCosine:
      return {"min", -1, 1, "min = 0.99"};
    case TensorMetric::kSqnr:
      return {"min", -kAny, kAny, "min = 30 (decibels)"};
    case TensorMetric::kArgmaxAgreement:
      return {"min", 0, 1, "min = 0.99"};
    case TensorMetric::kAllclose:
      return {"rtol", 0, kAny, "rtol = 1e-3 and atol = 1e-5"};
  }
  return {"max", 0, kAny, ""};
}

void read_bounds(TableReader& table, TensorRule& rule) {
  const MetricBound bound = bound_of(rule.metric);
  const auto in_reach = [&bound](double x) {
    return std::isfinite(x) && x >= bound.low && x <= bound.high;
  };
  const std::string wanted =
      std::isfinite(bound.high)  ? fmt::format("a number from {} to {}", bound.low, bound.high)
      : std::isfinite(bound.low) ? fmt::format("a finite number of at least {}", bound.low)
                                 : "a finite number";
  rule.min = table.number("min", wanted, in_reach);
  rule.max = table.number("max", wanted, in_reach);
  rule.rtol = table.number("rtol", "a finite number of at least 0", is_distance).value_or(0.0);
  rule.atol = table.number("atol", "a finite number of at least 0", is_distance).value_or(0.0);
  const bool is_allclose = rule.metric == TensorMetric::kAllclose;
  for (const std::string_view key : {"min", "max", "rtol", "atol"}) {
    const bool fits = is_allclose ? key == "rtol" || key == "atol" : key == bound.key;
    if (!fits && table.has(key)) {
      table.problem(
          key, fmt::format("does not bound {}: write {}", to_string(rule.metric), bound.example));
    }
  }
  const bool is_bounded =
      is_allclose ? table.has("rtol") || table.has("atol") : table.has(bound.key);
  if (!is_bounded)
    table.problem("",
                  fmt::format("{} needs a bound: write {}", to_string(rule.metric), bound.example));
}

void read_tensor_rule(TableReader& table, Accuracy& accuracy) {
  const TableReader::Word<TensorMetric> metrics[] = {
      {"max_abs", TensorMetric::kMaxAbs},
      {"max_rel", TensorMetric::kMaxRel},
      {"allclose", TensorMetric::kAllclose},
      {"l2", TensorMetric::kL2},
      {"cosine", TensorMetric::kCosine},
      {"sqnr", TensorMetric::kSqnr},
      {"argmax_agreement", TensorMetric::kArgmaxAgreement}};
  const TableReader::Word<NonFinite> non_finite[] = {
      {"never", NonFinite::kReject}, {"where_reference_is", NonFinite::kWhereReferenceIs}};
  TensorRule rule;
  table.require("output", "the name of the model's output that this rule filters");
  table.require("metric", "metric = \"cosine\"");
  rule.output = table.text("output").value_or("");
  if (const auto metric = table.word("metric", metrics)) {
    rule.metric = *metric;
    read_bounds(table, rule);
  } else {
    for (const std::string_view key : {"min", "max", "rtol", "atol"}) table.value(key);
  }
  if (const auto allowed = table.word("allow_non_finite", non_finite)) rule.non_finite = *allowed;
  for (const TensorRule& other : accuracy.tensors) {
    if (other.output == rule.output && other.metric == rule.metric && !rule.output.empty()) {
      table.problem("", fmt::format("bounds {} of '{}' a second time: keep one",
                                    to_string(rule.metric), rule.output));
    }
  }
  accuracy.tensors.push_back(std::move(rule));
  table.finish();
}

Margin read_margin(TableReader& table, std::optional<BuiltinEvaluator> builtin) {
  Margin margin;
  margin.max_drop =
      table.number("max_drop", "a finite number of at least 0, in units of the score", is_distance);
  margin.max_drop_relative =
      table.number("max_drop_relative", "a share of at least 0 and below 1 (0.01 is 1 %)",
                   [](double x) { return x >= 0 && x < 1; });
  margin.min_score = table.number("min_score", "a finite number", is_finite);
  if (table.has("max_drop") && table.has("max_drop_relative")) {
    table.problem(
        "max_drop_relative",
        "contradicts max_drop: give the drop in units of the score or as a share, not both");
  }
  if (!table.has("max_drop") && !table.has("max_drop_relative") && !table.has("min_score")) {
    table.problem(
        "",
        "has no margin, so nothing could fail it: give max_drop, max_drop_relative or min_score");
  }
  const bool is_share = builtin && *builtin != BuiltinEvaluator::kAbsoluteError &&
                        *builtin != BuiltinEvaluator::kEmbeddingCosine;
  if (is_share && margin.max_drop && !(*margin.max_drop < 1)) {
    table.problem("max_drop", fmt::format("of {} lets everything pass: {} lies between 0 and 1",
                                          *margin.max_drop, to_string(*builtin)));
  }
  if (builtin && *builtin != BuiltinEvaluator::kAbsoluteError && margin.min_score &&
      !(*margin.min_score <= 1)) {
    table.problem("min_score", fmt::format("of {} lets nothing pass: {} is at most 1",
                                           *margin.min_score, to_string(*builtin)));
  }
  return margin;
}

/// A text names a built-in, a list is a program and its arguments.
void read_evaluator(TableReader& table, const SectionContext& context, TaskRule& task) {
  table.require("evaluator",
                "evaluator = [\"python3\", \"score.py\"], or a built-in such as \"agreement\"");
  const TomlValue* value = table.value("evaluator");
  if (value == nullptr) return;
  if (const auto* name = std::get_if<std::string>(&value->data)) {
    task.builtin = parse_builtin_evaluator(*name);
    if (task.builtin) return;
    const bool looks_like_program = name->find_first_of(" /.") != std::string::npos;
    table.problem(
        "evaluator",
        looks_like_program
            ? fmt::format(
                  "\"{}\" is no built-in: write a program as a list, [\"python3\", \"score.py\"]",
                  *name)
            : fmt::format("there is no built-in evaluator \"{}\": {}", *name,
                          did_you_mean(*name, builtin_names())));
    return;
  }
  auto words = table.texts("evaluator");
  if (!words) return;
  if (words->empty()) table.problem("evaluator", "is empty: write [\"python3\", \"score.py\"]");
  task.program = context.program(table, "evaluator", std::move(*words));
}

void read_direction(TableReader& table, TaskRule& task) {
  const auto lower = table.boolean("lower_is_better");
  task.lower_is_better =
      task.builtin == BuiltinEvaluator::kAbsoluteError;  // an error is better when it is small
  if (lower && task.builtin && *lower != task.lower_is_better) {
    table.problem("lower_is_better",
                  fmt::format("contradicts {}, whose better direction is known: leave it out",
                              to_string(*task.builtin)));
  }
  if (lower && !task.builtin) task.lower_is_better = *lower;
}

void read_task(TableReader& table, const SectionContext& context, Accuracy& accuracy) {
  TaskRule task;
  table.require("name", "any word, for messages and reports");
  task.name = table.text("name").value_or("");
  const auto has_name = [&task](const TaskRule& other) { return other.name == task.name; };
  if (!task.name.empty() && std::ranges::any_of(accuracy.tasks, has_name)) {
    table.problem("name",
                  fmt::format("'{}' is the name of another task too: rename one", task.name));
  }
  read_evaluator(table, context, task);
  task.output = table.text("output").value_or("");
  if (table.has("output") && !task.program.empty()) {
    table.problem("output", "is for built-in evaluators; a program gets all outputs: leave it out");
  }
  task.margin = read_margin(table, task.builtin);
  read_direction(table, task);
  task.timeout_seconds = table.seconds("timeout").value_or(task.timeout_seconds);
  task.group = table.text("group").value_or("");
  for (const TaskRule& other : accuracy.tasks) {
    if (!task.group.empty() && !other.group.empty() && task.group != other.group) {
      table.problem(
          "group",
          fmt::format("is '{}', but task '{}' groups by '{}': all tasks share one grouping",
                      task.group, other.name, other.group));
    }
  }
  if (auto slices = table.table("slices")) {
    for (auto& [name, slice] : slices->named_tables()) {
      if (name.empty()) slice.problem("", "a slice needs a name");
      task.slices[name] = read_margin(slice, task.builtin);
      slice.finish();
    }
  }
  accuracy.tasks.push_back(std::move(task));
  table.finish();
}

}  // namespace

void read_accuracy(TableReader& table, const SectionContext& context, Contract& contract) {
  const TableReader::Word<ReferenceKind> references[] = {{"float32", ReferenceKind::kFloat32},
                                                         {"baseline", ReferenceKind::kBaseline},
                                                         {"files", ReferenceKind::kFiles}};
  const TableReader::Word<Claim> claims[] = {{"future_data", Claim::kFutureData},
                                             {"this_set", Claim::kThisSet}};
  Accuracy& accuracy = contract.accuracy;
  if (const auto reference = table.word("reference", references)) accuracy.reference = *reference;
  accuracy.reference_files = context.directory(table, "reference_files");
  const bool is_files = accuracy.reference == ReferenceKind::kFiles;
  if (is_files)
    table.require("reference_files", "the folder of reference outputs, laid out like a data set");
  if (!is_files && table.has("reference_files")) {
    table.problem("reference_files",
                  fmt::format("contradicts reference \"{}\": write reference = \"files\"",
                              to_string(accuracy.reference)));
  }
  const auto confidence = table.number("confidence", "a confidence above 0.5 and below 1",
                                       [](double x) { return x > 0.5 && x < 1; });
  accuracy.confidence = confidence.value_or(accuracy.confidence);
  if (const auto claim = table.word("claim", claims)) accuracy.claim = *claim;
  for (TableReader& rule : table.tables("tensor")) read_tensor_rule(rule, accuracy);
  for (TableReader& task : table.tables("task")) read_task(task, context, accuracy);
  if (accuracy.tasks.empty()) {
    table.problem("",
                  "has no [[accuracy.task]]: tensor rules only filter, a task decides; without "
                  "labels use agreement");
  }
}

}  // namespace fiel
