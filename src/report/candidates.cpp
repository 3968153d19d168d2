#include "report/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/fields.h"

namespace fiel {
namespace {

std::vector<Port> ports_of(const Json& body, std::string_view key) {
  std::vector<Port> ports;
  for (const Json& entry : fields::member(body, key)) {
    Port port{.name = fields::text(entry, "name"), .dtype = fields::text(entry, "dtype"), .shape = {}};
    for (const Json& size : fields::member(entry, "shape")) {
      port.shape.push_back(size.is_number_integer() ? size.get<std::int64_t>() : -1);
    }
    ports.push_back(std::move(port));
  }
  return ports;
}

std::optional<double> ratio_of(const std::optional<double>& log_ratio) {
  return log_ratio ? std::optional(std::exp(*log_ratio)) : std::nullopt;
}

// What it takes to see the same again: timings by `bench`, accuracy by `check`.
std::string reproduce_line(const CandidateView& view, const RunView& run) {
  const bool about_accuracy = view.status == "inadmissible" && view.kind != "over_limit" && view.kind != "overloaded";
  const std::string contract =
      run.contract_file.empty() ? (run.folder / "contract.toml").string() : run.contract_file;
  return fmt::format("fiel {} {} --route {}", about_accuracy ? "check" : "bench", shell_quoted(contract),
                     shell_quoted(view.route));
}

std::string pruned_reason(const CandidateView& view) {
  if (view.screen_ratio) {
    return fmt::format("{:.3f} times as fast as the comparator at first sight (1 session)",
                       *view.screen_ratio);
  }
  return view.artifact.empty() ? "not built" : "not timed";
}

}  // namespace

bool CandidateView::is_baseline() const { return std::ranges::find(roles, "baseline") != roles.end(); }

std::string shell_quoted(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./=,:+@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string_view status_word(CandidateStatus status, Settled settled) {
  switch (status) {
    case CandidateStatus::kTried: return settled == Settled::kYes ? "pruned" : "undecided";
    case CandidateStatus::kAdmissible: return "admissible";
    case CandidateStatus::kUnsupported:
    case CandidateStatus::kBuildError:
    case CandidateStatus::kCrash:
    case CandidateStatus::kTimeout:
    case CandidateStatus::kOutOfMemory:
    case CandidateStatus::kMistrusted: return "failed";
    case CandidateStatus::kNonFinite:
    case CandidateStatus::kWrong:
    case CandidateStatus::kWrongSlice:
    case CandidateStatus::kOverLimit:
    case CandidateStatus::kUnstable:
    case CandidateStatus::kOverloaded:
    case CandidateStatus::kFellBack: return "inadmissible";
    case CandidateStatus::kDuplicate: return "duplicate";
    case CandidateStatus::kUndecided: return "undecided";
  }
  return "undecided";
}

void CandidateReader::take_candidate(const Json& body) {
  const auto id = fields::integer(body, "id");
  if (!id) return;
  CandidateView& view = views_[static_cast<int>(*id)];
  const Json& route = fields::member(body, "route");
  view.engine = fields::text(route, "engine");
  view.route = fields::text(route, "text");
  const auto& kinds = knob_kinds_[view.engine];
  for (const auto& [name, value] : fields::text_map(route, "settings")) {
    const auto found = kinds.find(name);
    // Journals without kinds: shape and batch are what every engine has that is no property.
    const std::string kind = found != kinds.end() ? found->second
                             : name == "shape" || name == "batch" ? name : "property";
    (kind == "environment" ? view.environment : view.settings)[name] = value;
    if (kind == "property") view.properties[name] = value;
  }
  view.roles = fields::texts(body, "roles");
  view.digest = fields::text(body, "digest");
}

void CandidateReader::take_process(const Json& entry) {
  const auto id = fields::integer(entry, "id");
  if (!id) return;
  CandidateView& view = views_[static_cast<int>(*id)];
  if (const Json& effective = fields::member(entry, "effective"); effective.is_object()) {
    view.effective = fields::text_map(effective, "settings");
    view.precisions = fields::count_map(effective, "precisions");
    view.placement = fields::count_map(effective, "placement");
    view.ignored = fields::texts(effective, "ignored");
  }
  if (auto inputs = ports_of(entry, "inputs"); !inputs.empty()) view.inputs = std::move(inputs);
  if (auto outputs = ports_of(entry, "outputs"); !outputs.empty()) view.outputs = std::move(outputs);
  if (auto failure = fields::json_text(entry, "failure"); !failure.empty()) {
    view.failure_json = std::move(failure);
    view.log_tail = fields::text(fields::member(entry, "failure"), "log_tail");
  }
}

void CandidateReader::take(const Event& event, const Json& body) {
  const double seconds = event.spent_seconds - std::exchange(spent_seconds_, event.spent_seconds);
  if (event.type == "engine") {
    knob_kinds_[fields::text(body, "engine")] = fields::text_map(body, "knobs");
    return;
  }
  if (event.type == "candidate") return take_candidate(body);
  for (const Json& entry : fields::member(body, "contenders")) take_process(entry);
  const bool of_one = event.type == "build" || event.type == "probe" || event.type == "gate" || event.type == "holdout" ||
                      event.type == "consistency";
  const auto id = fields::integer(body, "id");
  if (!of_one || !id) return;
  take_process(body);
  CandidateView& view = views_[static_cast<int>(*id)];
  view.seconds_by_step[event.type] += seconds;
  if (event.type == "build" || event.type == "probe") view.tried_at_seconds = event.spent_seconds;
  if (event.type == "build") {
    view.build_seconds = fields::number(body, "build_seconds");
    view.artifact_bytes = fields::integer(body, "artifact_bytes");
    if (const auto twin = fields::integer(body, "same_as")) view.same_as = static_cast<int>(*twin);
  } else if (event.type == "consistency") {
    view.consistency_json = dump_json({{"samples", fields::member(body, "samples")}, {"spread", fields::member(body, "spread")}});
  } else if (auto gate = fields::json_text(body, "gate"); !gate.empty()) {
    (event.type == "holdout" ? view.gate_holdout_json : view.gate_tuning_json) = std::move(gate);
  }
}

std::map<int, CandidateView> CandidateReader::finish(const Standing& standing, const RunView& run) {
  // From the race on, and after a verdict, the search's leavings are not looked at again.
  const bool settled = !run.verdict.empty() || !standing.nominees_in_order.empty() || run.stage == "race";
  for (const auto& [id, state] : standing.candidates) {
    CandidateView& view = views_[id];
    view.id = id;
    view.status = status_word(state.status, settled ? Settled::kYes : Settled::kNo);
    view.kind = to_string(state.status);
    view.reason = state.reason;
    view.artifact = state.artifact;
    view.latency = state.latency;
    view.accelerator = state.accelerator;
    view.margin_left = state.accuracy_margin_left;
    view.screen_ratio = ratio_of(state.screen_log_ratio);
    for (const double log_ratio : state.race_log_ratios) view.race_ratios.push_back(std::exp(log_ratio));
    if (state.peak_memory_bytes > 0) view.peak_memory_bytes = state.peak_memory_bytes;
    if (view.status == "pruned" && view.reason.empty()) view.reason = pruned_reason(view);
    if (view.status == "undecided" && view.kind == "tried") view.reason = "not judged in full yet";
    view.reproduce = reproduce_line(view, run);
  }
  return std::move(views_);
}

}  // namespace fiel
