#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/printable.h"
#include "gate/conclude.h"
#include "gate/evaluator.h"
#include "gate/gate.h"
#include "gate/reference.h"
#include "gate/task_verdict.h"
#include "gate/tensor_rows.h"

namespace fiel {

struct Judge::Impl {
  const Contract& contract;
  const SampleSet& set;
  const ReferenceStore& reference;
  EvaluatorPlace place;
  ChunkFolder chunk = {};
  TensorRows tensors;
  std::vector<std::int64_t> groups;  // by sample of the set
  std::set<int> added = {};
  Scores scores = {};
  std::map<int, std::string> bits = {};
  std::optional<HardFault> hard = {};

  void compare(const SampleOutputs& sample);
  Result<std::vector<double>> score(const TaskRule& task, std::span<const ScoreItem> items);
  void keep(const TaskRule& task, int index, double score);
  void take_reference_scores(int index);
  Result<> score_all(std::span<const SampleOutputs* const> samples);
  PairedSlice paired(const TaskRule& task, const std::string& slice) const;
  std::vector<PairedSlice> all_paired() const;
  bool is_complete() const { return added.size() == set.samples.size(); }
  Seen seen() const {
    return {.samples = static_cast<std::int64_t>(added.size()), .all = static_cast<std::int64_t>(set.samples.size())};
  }
};

namespace {

// Samples without a group are groups of their own.
std::vector<std::int64_t> group_numbers(const SampleSet& set) {
  std::map<std::string, std::int64_t> numbers;
  std::vector<std::int64_t> groups;
  std::int64_t next = 0;
  for (const Sample& sample : set.samples) {
    if (sample.group.empty()) {
      groups.push_back(next++);
      continue;
    }
    const auto [found, is_new] = numbers.emplace(sample.group, next);
    next += is_new ? 1 : 0;
    groups.push_back(found->second);
  }
  return groups;
}

bool may_be_the_outputs_fault(const Error& error) {
  return error.kind == ErrorKind::kProtocol || error.kind == ErrorKind::kTimeout;
}

}  // namespace

void Judge::Impl::compare(const SampleOutputs& sample) {
  const bool known = sample.index >= 0 && static_cast<std::size_t>(sample.index) < set.samples.size();
  if (!known) {
    hard = HardFault{GateReason::kWrongOutput,
                     fmt::format("outputs for sample number {} of a set of {}", sample.index, set.samples.size())};
    return;
  }
  added.insert(sample.index);
  bits[sample.index] = name_of_bits(reference.views(sample.index), sample);
  hard = tensors.add(set.samples[static_cast<std::size_t>(sample.index)], reference.views(sample.index),
                     views_of(sample));
}

// A program that fails on these outputs is run on the reference's for the same samples. If that works, the outputs are
// what it cannot take, and that is the candidate's failure; else something is wrong here, and nobody is to blame.
Result<std::vector<double>> Judge::Impl::score(const TaskRule& task, std::span<const ScoreItem> items) {
  EvaluatorPlace shared = place;
  shared.chunk = &chunk;
  const ScoreOptions options = reference.score_options(task);
  auto scores_now = score_items(task, items, options, shared);
  if (scores_now || !may_be_the_outputs_fault(scores_now.error())) return scores_now;
  std::vector<ScoreItem> control(items.begin(), items.end());
  for (ScoreItem& item : control) item.outputs = item.reference;
  const auto control_scores = score_items(task, control, options, place);
  if (!control_scores && control_scores.error().kind == ErrorKind::kCancelled) {
    return std::unexpected(control_scores.error());
  }
  if (!control_scores) {
    Error error = std::move(scores_now).error();
    error.message += "; it now fails on the reference's outputs of the same samples too, where it worked before";
    return std::unexpected(std::move(error));
  }
  const Error& error = scores_now.error();
  hard = HardFault{GateReason::kTask,
                   fmt::format("{} has no score: {}; on the reference's outputs of the same samples it works; {}",
                               task.name, error.message, last_lines(error.hint, 1))};
  return std::vector<double>();
}

void Judge::Impl::keep(const TaskRule& task, int index, double score) {
  const auto [kept, is_new] = scores[task.name].emplace(index, score);
  if (is_new) return;
  kept->second = task.lower_is_better ? std::max(kept->second, score) : std::min(kept->second, score);
}

// An evaluator is a function of the outputs, so the reference's bits have the reference's scores.
void Judge::Impl::take_reference_scores(int index) {
  for (const TaskRule& task : contract.accuracy.tasks) keep(task, index, reference.scores().at(task.name).at(index));
}

Result<> Judge::Impl::score_all(std::span<const SampleOutputs* const> samples) {
  std::vector<OutputViews> views;
  views.reserve(samples.size());
  std::vector<ScoreItem> items;
  for (const SampleOutputs* sample : samples) {
    views.push_back(views_of(*sample));
    items.push_back({&set.samples[static_cast<std::size_t>(sample->index)], &views.back(),
                     &reference.views(sample->index)});
  }
  chunk.next_chunk();
  for (const TaskRule& task : contract.accuracy.tasks) {
    const auto values = FIEL_TRY(score(task, items));
    if (hard) return {};
    for (std::size_t i = 0; i < values.size(); ++i) keep(task, samples[i]->index, values[i]);
  }
  return {};
}

PairedSlice Judge::Impl::paired(const TaskRule& task, const std::string& slice) const {
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  PairedSlice result{.task = task.name, .slice = slice};
  result.lower_is_better = task.lower_is_better;
  const auto found = scores.find(task.name);
  const auto& expected = reference.scores().at(task.name);
  for (const int index : added) {
    const auto at = static_cast<std::size_t>(index);
    if (!slice.empty() && set.samples[at].slice != slice) continue;
    double score = kMissing;
    if (found != scores.end()) {
      const auto value = found->second.find(index);
      if (value != found->second.end()) score = value->second;
    }
    result.reference.push_back(expected.at(index));
    result.candidate.push_back(score);
    result.groups.push_back(groups[at]);
  }
  return result;
}

std::vector<PairedSlice> Judge::Impl::all_paired() const {
  std::vector<PairedSlice> all;
  for (const TaskRule& task : contract.accuracy.tasks) {
    all.push_back(paired(task, ""));
    all.back().limit = task.margin;
    std::set<std::string> slices;
    for (const auto& [slice, margin] : task.slices) slices.insert(slice);
    for (const auto& [slice, count] : set.slice_counts()) slices.insert(slice);
    slices.erase("");
    for (const std::string& slice : slices) {
      all.push_back(paired(task, slice));
      const auto limit = task.slices.find(slice);
      if (limit != task.slices.end()) all.back().limit = limit->second;
    }
  }
  return all;
}

Judge::Judge(const Contract& contract, const SampleSet& set, const ReferenceStore& reference,
             std::filesystem::path scratch, int cancel_fd)
    : impl_(new Impl{.contract = contract,
                     .set = set,
                     .reference = reference,
                     .place = {.scratch = std::move(scratch), .dataset = set.source, .cancel_fd = cancel_fd},
                     .tensors = TensorRows(contract, reference),
                     .groups = group_numbers(set)}) {}
Judge::Judge(Judge&&) noexcept = default;
Judge::~Judge() = default;

Result<> Judge::add(std::span<const SampleOutputs> chunk) {
  std::vector<const SampleOutputs*> waiting;
  std::vector<int> as_reference;
  for (const SampleOutputs& sample : chunk) {
    if (!impl_->hard) impl_->compare(sample);
    if (impl_->hard) return {};
    if (impl_->bits.at(sample.index) == kReferenceBits) {
      as_reference.push_back(sample.index);
    } else {
      waiting.push_back(&sample);
    }
  }
  for (const int index : as_reference) impl_->take_reference_scores(index);
  // One evaluator run holds each sample once; one that comes again has a run of its own.
  while (!waiting.empty() && !impl_->hard) {
    std::set<int> taken;
    std::vector<const SampleOutputs*> now, later;
    for (const SampleOutputs* sample : waiting) {
      (taken.insert(sample->index).second ? now : later).push_back(sample);
    }
    FIEL_TRY(impl_->score_all(now));
    waiting = std::move(later);
  }
  return {};
}

std::optional<GateResult> Judge::reject_early() const {
  if (impl_->hard) return hard_failure(*impl_->hard, impl_->tensors.verdicts(), impl_->seen());
  std::vector<JudgedSlice> judged;
  bool any = false;
  for (const PairedSlice& paired : impl_->all_paired()) {
    auto outside = clearly_outside(paired);
    any = any || outside;
    judged.push_back(outside ? *std::move(outside) : estimate(paired));
    if (!outside && judged.back().verdict.status == GateStatus::kRejected) {
      judged.back().verdict.status = GateStatus::kUndecided;  // outside so far, but that may be chance
      judged.back().reason = GateReason::kUndecided;
    }
  }
  GateResult result = conclude(judged, impl_->tensors.verdicts(), impl_->seen());
  if (!any && result.status != GateStatus::kRejected) return std::nullopt;
  result.message += fmt::format(" after {} of {} samples", result.samples_seen, impl_->set.samples.size());
  return result;
}

GateResult Judge::judge_tuning() const {
  if (impl_->hard) return hard_failure(*impl_->hard, impl_->tensors.verdicts(), impl_->seen());
  std::vector<JudgedSlice> judged;
  for (const PairedSlice& paired : impl_->all_paired()) {
    // A slice that tuning data lack is proven on the hold-out or not at all; a claim about this set needs its samples.
    const bool is_needed = impl_->contract.accuracy.claim == Claim::kThisSet;
    if (paired.reference.empty() && !is_needed && !paired.slice.empty()) continue;
    judged.push_back(estimate(paired));
  }
  return conclude(judged, impl_->tensors.verdicts(), impl_->seen());
}

GateResult Judge::judge_holdout(double alpha, std::uint64_t seed) const {
  if (impl_->hard) return hard_failure(*impl_->hard, impl_->tensors.verdicts(), impl_->seen());
  std::vector<JudgedSlice> judged;
  for (const PairedSlice& paired : impl_->all_paired()) judged.push_back(prove(paired, {alpha, seed}));
  return conclude(judged, impl_->tensors.verdicts(), impl_->seen());
}

const Scores& Judge::scores() const { return impl_->scores; }
const std::map<int, std::string>& Judge::output_bits() const { return impl_->bits; }

}  // namespace fiel
