#include "report/contract_terms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/units.h"

namespace fiel {
namespace {

std::string margin_words(const Margin& margin, bool lower_is_better) {
  std::string words;
  const auto add = [&](std::string_view what, double value) {
    words += fmt::format("{}{} {:.6g}", words.empty() ? "" : ", ", what, value);
  };
  if (margin.max_drop) add("drop at most", *margin.max_drop);
  if (margin.max_drop_relative) add("relative drop at most", *margin.max_drop_relative);
  if (margin.min_score) add(lower_is_better ? "score at most" : "score at least", *margin.min_score);
  return words;
}

std::string task_terms(const TaskRule& task) {
  std::string words;
  if (task.builtin) {
    words = to_string(*task.builtin);
  } else {
    for (const std::string& word : task.program) {
      const std::filesystem::path path(word);
      words += fmt::format("{}{}", words.empty() ? "" : " ", path.is_absolute() ? path.filename().string() : word);
    }
  }
  if (!task.output.empty()) words += " of " + task.output;
  words += ", " + margin_words(task.margin, task.lower_is_better);
  for (const auto& [slice, margin] : task.slices) {
    words += fmt::format("; {}: {}", slice, margin_words(margin, task.lower_is_better));
  }
  if (!task.group.empty()) words += "; grouped by " + task.group;
  return words;
}

std::string tensor_terms(const TensorRule& rule) {
  std::string words = rule.non_finite == NonFinite::kWhereReferenceIs ? "non-finite where the reference is" : "finite";
  if (rule.min) words += fmt::format(", at least {:.6g}", *rule.min);
  if (rule.max) words += fmt::format(", at most {:.6g}", *rule.max);
  if (rule.metric == TensorMetric::kAllclose) words += fmt::format(", rtol {:.6g}, atol {:.6g}", rule.rtol, rule.atol);
  return words;
}

}  // namespace

std::map<std::string, std::string> contract_terms(const Contract& contract) {
  std::map<std::string, std::string> terms = {
      {"workload.scenario", std::string(to_string(contract.scenario))},
      {"workload.objective", std::string(to_string(contract.objective))},
      {"accuracy.reference", std::string(to_string(contract.accuracy.reference))},
      {"accuracy.claim", std::string(to_string(contract.accuracy.claim))},
      {"accuracy.confidence", fmt::format("{:.6g}", contract.accuracy.confidence)},
      {"target.device", contract.device},
      {"target.cores", contract.cores.empty() ? "all" : fmt::format("{}", fmt::join(contract.cores, ","))},
      {"target.baseline", contract.baseline.empty() ? "the engine's defaults" : contract.baseline},
      {"speed.min_gain", fmt::format("{:.6g}", contract.min_gain)},
      {"speed.confidence", fmt::format("{:.6g}", contract.speed_confidence)}};
  if (contract.target_qps) terms["workload.target_qps"] = fmt::format("{:.6g}", *contract.target_qps);
  const Limits& limits = contract.limits;
  if (limits.peak_memory_bytes) terms["limits.peak_memory"] = format_bytes(*limits.peak_memory_bytes);
  if (limits.artifact_bytes) terms["limits.artifact_size"] = format_bytes(*limits.artifact_bytes);
  if (limits.latency_p99_seconds) terms["limits.latency_p99"] = format_duration(*limits.latency_p99_seconds);
  if (limits.build_time_seconds) terms["limits.build_time"] = format_duration(*limits.build_time_seconds);
  for (const TaskRule& task : contract.accuracy.tasks) terms["accuracy.task " + task.name] = task_terms(task);
  for (const TensorRule& rule : contract.accuracy.tensors) {
    terms[fmt::format("accuracy.tensor {} {}", rule.output, to_string(rule.metric))] = tensor_terms(rule);
  }
  return terms;
}

}  // namespace fiel
