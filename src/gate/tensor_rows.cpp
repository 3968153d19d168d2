#include "gate/tensor_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fiel {
namespace {

bool allows_non_finite(const Accuracy& accuracy, const std::string& output) {
  return std::ranges::any_of(accuracy.tensors, [&](const TensorRule& rule) {
    return rule.output == output && rule.non_finite == NonFinite::kWhereReferenceIs;
  });
}

// A task reads the output for sure if a built-in names it or reads all, or if it is the only one. What a program reads
// of several outputs, nobody knows.
WithoutRule without_rule(const Accuracy& accuracy, const OutputViews& outputs, const std::string& output) {
  if (outputs.size() == 1) return WithoutRule::kTaskDecides;
  for (const TaskRule& task : accuracy.tasks) {
    if (!task.builtin) continue;
    const bool reads_all = task.output.empty() && task.builtin == BuiltinEvaluator::kAgreement;
    if (reads_all || task.output == output) return WithoutRule::kTaskDecides;
  }
  return WithoutRule::kIntegersExact;
}

std::string bound_text(const TensorRule& rule) {
  if (rule.metric == TensorMetric::kAllclose) return fmt::format("allclose rtol {}, atol {}", rule.rtol, rule.atol);
  if (rule.min) return fmt::format("{} >= {}", to_string(rule.metric), *rule.min);
  if (rule.max) return fmt::format("{} <= {}", to_string(rule.metric), *rule.max);
  return std::string(to_string(rule.metric));
}

}  // namespace

TensorRows::TensorRows(const Contract& contract, const ReferenceStore& reference) {
  const Accuracy& accuracy = contract.accuracy;
  const OutputViews& outputs = reference.views(0);
  for (const auto& [name, view] : outputs) {
    bool has_rule = false;
    for (const TensorRule& rule : accuracy.tensors) {
      if (rule.output != name) continue;
      has_rule = true;
      Row& row = rows_.emplace_back(Row{.rule = rule});
      if (allows_non_finite(accuracy, name)) row.rule->non_finite = NonFinite::kWhereReferenceIs;
      row.verdict.metric = to_string(rule.metric);
      row.verdict.bound = bound_text(rule);
      if (!is_floating(view.dtype)) continue;
      if (auto reason = reason_to_mistrust(reference.traits().at(name), rule)) {
        row.void_everywhere = true;
        row.void_reason = *std::move(reason) + " over the whole set";
      }
    }
    if (has_rule) continue;
    Row& row = rows_.emplace_back();
    row.without_rule = without_rule(accuracy, outputs, name);
    row.verdict.metric = to_string(TensorMetric::kMaxAbs);
    const bool exact = !is_floating(view.dtype) && row.without_rule == WithoutRule::kIntegersExact;
    row.verdict.bound = exact ? "equal integers" : "finite";
  }
  std::size_t i = 0;
  for (const auto& [name, view] : outputs) {
    const auto rules = std::ranges::count(accuracy.tensors, name, &TensorRule::output);
    for (std::int64_t k = 0; k < std::max<std::int64_t>(rules, 1); ++k) rows_[i++].verdict.output = name;
  }
}

void TensorRows::note(Row& row, const TensorComparison& compared, const Sample& sample) {
  TensorVerdict& verdict = row.verdict;
  const double value = row.rule ? compared.value(*row.rule) : compared.errors.max_abs;
  const bool higher = row.rule && higher_is_nearer(row.rule->metric);
  const bool is_worse = higher ? !(value >= verdict.worst) : !(value <= verdict.worst);
  if (verdict.samples == 0 || is_worse) {
    verdict.worst = value;
    verdict.worst_sample = sample.id;
  }
  ++verdict.samples;
  if (compared.status == TensorStatus::kMistrusted) {
    ++row.void_samples;
    if (row.void_reason.empty()) row.void_reason = compared.message;
  }
  if (compared.status != TensorStatus::kRejected || row.void_everywhere) return;
  if (verdict.rejected++ == 0) {
    verdict.message = fmt::format("output {} of sample {}: {}", verdict.output, sample.id, compared.message);
    if (!row.rule) {
      verdict.message += fmt::format(
          "; integers must be equal unless an [[accuracy.tensor]] rule for {} allows more or a task reads it",
          verdict.output);
    }
  }
}

std::optional<HardFault> TensorRows::add(const Sample& sample, const OutputViews& reference,
                                         const OutputViews& candidate) {
  if (const auto fault = find_output_fault(reference, candidate)) {
    return HardFault{GateReason::kWrongOutput, fmt::format("sample {}: {}", sample.id, fault->message)};
  }
  for (Row& row : rows_) {
    const auto compared = compare_tensor(reference.at(row.verdict.output), candidate.at(row.verdict.output),
                                         row.rule ? &*row.rule : nullptr, row.without_rule);
    FIEL_CHECK(compared.status != TensorStatus::kBadReference);  // the store refuses such a reference
    if (compared.status == TensorStatus::kRejected && compared.fault == TensorFault::kNonFinite) {
      return HardFault{GateReason::kNonFinite, fmt::format("output {} of sample {} is not finite at {}",
                                                           row.verdict.output, sample.id, compared.message)};
    }
    note(row, compared, sample);
  }
  return std::nullopt;
}

std::vector<TensorVerdict> TensorRows::verdicts() const {
  std::vector<TensorVerdict> verdicts;
  for (const Row& row : rows_) {
    TensorVerdict& verdict = verdicts.emplace_back(row.verdict);
    verdict.status = verdict.rejected == 0 ? GateStatus::kAdmissible : GateStatus::kRejected;
    const bool void_everywhere = row.void_everywhere || (row.void_samples > 0 && row.void_samples == verdict.samples);
    if (void_everywhere) {
      verdict.mistrusted = row.void_reason;
    } else if (row.void_samples > 0 && verdict.message.empty()) {
      verdict.message = fmt::format("proves nothing for {} of {} samples: {}", row.void_samples, verdict.samples,
                                    row.void_reason);
    }
  }
  return verdicts;
}

}  // namespace fiel
