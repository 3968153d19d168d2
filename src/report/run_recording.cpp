#include "report/run_recording.h"

#include "report/words.h"

namespace fiel {
namespace {

std::optional<double> cost_ms(const RunView& view, const CandidateView& candidate, double ratio) {
  const CandidateView* comparator = view.find(view.comparator);
  const auto base = comparator != nullptr ? cost_seconds(view, *comparator) : std::nullopt;
  if (!base || !(ratio > 0)) return std::nullopt;
  return candidate.id == view.comparator ? 1e3 * *base : 1e3 * *base / ratio;
}

std::optional<double> cost_ms(const RunView& view, const CandidateView& candidate) {
  if (candidate.id == view.comparator) return cost_ms(view, candidate, 1);
  if (const auto shown = ratio_of(view, candidate)) return cost_ms(view, candidate, shown->ratio);
  const auto own = cost_seconds(view, candidate);  // an anchor that was not in the race
  return own ? std::optional(1e3 * *own) : std::nullopt;
}

double seconds_of(const CandidateView& candidate, const char* step) {
  const auto found = candidate.seconds_by_step.find(step);
  return found == candidate.seconds_by_step.end() ? 0.0 : found->second;
}

std::vector<double> timings_ms(const RunView& view, const CandidateView& candidate) {
  std::vector<double> ratios = candidate.race_ratios;
  if (candidate.screen_ratio) ratios.insert(ratios.begin(), *candidate.screen_ratio);
  std::vector<double> timings;
  for (const double ratio : ratios) {
    if (const auto cost = cost_ms(view, candidate, ratio)) timings.push_back(*cost);
  }
  return timings;
}

Written written(const RunView& view, const CandidateView& candidate) {
  Written record{.engine = candidate.engine};
  for (const auto* settings : {&candidate.settings, &candidate.environment}) {
    for (const auto& [knob, value] : *settings) record.settings.emplace_back(knob, value);
  }
  const CandidateView* twin = view.find(candidate.same_as);
  const CandidateView& judged = twin != nullptr ? *twin : candidate;
  const auto status = parse_candidate_status(judged.kind);
  record.invalidity = status ? invalidity_of(*status) : "runtime";
  record.compile_seconds = seconds_of(candidate, "build");
  record.other_seconds = seconds_of(candidate, "probe");
  record.validate_seconds = seconds_of(candidate, "gate");
  record.timings_ms = timings_ms(view, judged);
  if (record.timings_ms.empty() && record.invalidity == "correct") {
    if (const auto cost = cost_ms(view, judged)) record.timings_ms.push_back(*cost);
  }
  if (const auto cost = cost_ms(view, judged)) record.measurements.push_back({"time_per_execution", *cost, "ms"});
  if (record.measurements.empty()) return record;
  if (judged.peak_memory_bytes) record.measurements.push_back({"peak_memory", static_cast<double>(*judged.peak_memory_bytes), "bytes"});
  if (judged.artifact_bytes) record.measurements.push_back({"artifact_size", static_cast<double>(*judged.artifact_bytes), "bytes"});
  if (judged.margin_left) record.measurements.push_back({"accuracy_margin_left", *judged.margin_left, ""});
  return record;
}

}  // namespace

std::string_view invalidity_of(CandidateStatus status) {
  switch (status) {
    case CandidateStatus::kTried:
    case CandidateStatus::kAdmissible:
    case CandidateStatus::kDuplicate:
    case CandidateStatus::kUndecided: return "correct";
    case CandidateStatus::kUnsupported:
    case CandidateStatus::kBuildError: return "compile";
    case CandidateStatus::kTimeout: return "timeout";
    case CandidateStatus::kNonFinite:
    case CandidateStatus::kWrong:
    case CandidateStatus::kWrongSlice: return "correctness";
    case CandidateStatus::kOverLimit: return "constraints";
    case CandidateStatus::kCrash:
    case CandidateStatus::kOutOfMemory:
    case CandidateStatus::kUnstable:
    case CandidateStatus::kOverloaded:
    case CandidateStatus::kFellBack:
    case CandidateStatus::kMistrusted: return "runtime";
  }
  return "runtime";
}

std::vector<Written> recording_of(const RunView& view) {
  std::vector<Written> records;
  for (const auto& [id, candidate] : view.candidates) {
    Written record = written(view, candidate);
    if (record.invalidity == "correct" && record.measurements.empty()) continue;
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace fiel
