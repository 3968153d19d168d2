#include "report/json.h"

#include <nlohmann/json.hpp>

#include "report/fields.h"
#include "report/json_insight.h"

namespace fiel {
namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json micros(const std::optional<double>& seconds) { return seconds ? Json(*seconds * 1e6) : Json(nullptr); }

Json latency_json(const LatencySummary& latency) {
  return {{"n", latency.count},
          {"mean", latency.mean_seconds * 1e6},
          {"p50", latency.p50_seconds * 1e6},
          {"p90", micros(latency.p90_seconds)},
          {"p99", micros(latency.p99_seconds)},
          {"p90_at_most", micros(latency.p90_at_most_seconds)},
          {"p99_at_most", micros(latency.p99_at_most_seconds)}};
}

Json accelerator_json(const AcceleratorSummary& accelerator) {
  return {{"p50_us", micros(accelerator.p50_seconds)}, {"memory_bytes", or_null(accelerator.memory_bytes)}};
}

Json candidate_json(const CandidateView& candidate) {
  Json json = {{"id", candidate.id},
               {"engine", candidate.engine},
               {"route", candidate.route},
               {"settings", candidate.settings},
               {"environment", candidate.environment},
               {"roles", candidate.roles},
               {"status", candidate.status},
               {"kind", candidate.kind},
               {"reason", text_or_null(candidate.reason)},
               {"digest", candidate.digest},
               {"artifact", text_or_null(candidate.artifact)},
               {"artifact_bytes", or_null(candidate.artifact_bytes)},
               {"same_as", or_null(candidate.same_as)},
               {"build_seconds", or_null(candidate.build_seconds)},
               {"latency_us", candidate.latency ? latency_json(*candidate.latency) : Json(nullptr)},
               {"peak_memory_bytes", or_null(candidate.peak_memory_bytes)},
               {"screen_ratio", or_null(candidate.screen_ratio)},
               {"race_ratios", candidate.race_ratios},
               {"inputs", ports_json(candidate.inputs)},
               {"outputs", ports_json(candidate.outputs)},
               {"log_tail", text_or_null(candidate.log_tail)},
               {"reproduce", candidate.reproduce}};
  json["accelerator"] = candidate.accelerator ? accelerator_json(*candidate.accelerator) : Json(nullptr);
  json["tried_at_seconds"] = or_null(candidate.tried_at_seconds);
  json["throughput_per_second"] = candidate.latency ? Json(candidate.latency->per_second) : Json(nullptr);
  json["effective"] = {{"settings", candidate.effective},
                       {"precisions", candidate.precisions},
                       {"placement", candidate.placement},
                       {"ignored", candidate.ignored}};
  json["accuracy"] = {{"tuning", fields::parsed(candidate.gate_tuning_json)},
                      {"holdout", fields::parsed(candidate.gate_holdout_json)},
                      {"margin_left", or_null(candidate.margin_left)}};
  json["consistency"] = fields::parsed(candidate.consistency_json);
  json["failure"] = fields::parsed(candidate.failure_json);
  return json;
}

// The few words by which others refer to a candidate. Null for "admissible" means that it is not known yet.
Json reference_json(const RunView& view, const std::optional<int>& id) {
  const CandidateView* candidate = view.find(id);
  if (candidate == nullptr) return nullptr;
  const bool known = candidate->status != "undecided";
  return {{"id", candidate->id},
          {"route", candidate->route},
          {"admissible", known ? Json(candidate->status == "admissible") : Json(nullptr)},
          {"artifact", text_or_null(candidate->artifact)},
          {"latency_us", candidate->latency ? latency_json(*candidate->latency) : Json(nullptr)}};
}

Json nominee_json(const NomineeView& nominee) {
  Json sessions = Json::array();
  for (const SessionResult& session : nominee.sessions) {
    sessions.push_back({{"ratio", session.ratio}, {"win", session.win}});
  }
  return {{"id", nominee.id},
          {"turn", nominee.turn},
          {"alpha", nominee.alpha > 0 ? Json(nominee.alpha) : Json(nullptr)},
          {"opening", or_null(nominee.opening)},
          {"sessions", sessions},
          {"speed", text_or_null(nominee.speed)},
          {"holdout", text_or_null(nominee.holdout)},
          {"message", text_or_null(nominee.message)},
          {"e_value", or_null(nominee.e_value)}};
}

Json speedup_json(const Speedup& speedup) {
  return {{"estimate", speedup.estimate},
          {"low", or_null(speedup.low)},
          {"high", or_null(speedup.high)},
          {"confidence", or_null(speedup.confidence)},
          {"sessions_deciding", speedup.sessions_deciding},
          {"sessions_estimating", speedup.sessions_estimating},
          {"session_ratios", speedup.session_ratios}};
}

Json noise_json(const NoiseView& noise) {
  return {{"rounds", noise.rounds},
          {"rejected_rounds", noise.rejected_rounds},
          {"session_deviation", or_null(noise.session_deviation)}};
}

Json budget_json(const BudgetView& budget) {
  Json phases = Json::object();
  for (const PhaseTime& phase : budget.phases) phases[phase.name] = phase.seconds;
  return {{"spent_seconds", budget.spent_seconds},
          {"wall_seconds", or_null(budget.wall_seconds)},
          {"stop_reason", text_or_null(budget.stop_reason)},
          {"seconds_by_phase", phases}};
}

Json break_even_json(const BreakEven& even) {
  return {{"executions", or_null(even.executions)},
          {"saved_seconds_per_execution", even.saved_seconds_per_execution},
          {"of", even.of},
          {"planned_executions", or_null(even.planned_executions)},
          {"pays", even.planned_executions ? Json(even.executions && *even.executions <= *even.planned_executions) : Json(nullptr)}};
}

// What the run was bound to, as its first event has it, and the engines.
Json environment_json(const RunView& view) {
  Json json = fields::parsed(view.run_json);
  if (!json.is_object()) json = Json::object();
  json["engines"] = Json::array();
  for (const EngineView& engine : view.engines) {
    json["engines"].push_back({{"engine", engine.name},
                               {"version", engine.version},
                               {"devices", engine.devices},
                               {"cpu_features", engine.cpu_features}});
  }
  for (const MachineUse& machine : view.machines) {
    json["machines"].push_back({{"node", machine.node}, {"job", machine.job}, {"steps", machine.steps}, {"lost", machine.lost}});
  }
  return json;
}

}  // namespace

Json ports_json(const std::vector<Port>& ports) {
  Json json = Json::array();
  for (const Port& port : ports) json.push_back({{"name", port.name}, {"dtype", port.dtype}, {"shape", port.shape}});
  return json;
}

Json format_json(const RunView& view) {
  Json json = {{"format", kResultFormat},
               {"verdict", text_or_null(view.verdict)},
               {"stage", text_or_null(view.stage)},
               {"reason", text_or_null(view.reason)},
               {"missing", view.missing},
               {"ships", or_null(view.ships)},
               {"speedup", view.speedup ? speedup_json(*view.speedup) : Json(nullptr)},
               {"equivalent", view.equivalent},
               {"budget", budget_json(view.budget)},
               {"break_even", view.break_even ? break_even_json(*view.break_even) : Json(nullptr)},
               {"noise", noise_json(view.noise)},
               {"environment", environment_json(view)}};
  json["pareto"] = pareto_json(view);
  json["what_mattered"] = what_mattered_json(view);
  json["quality"] = quality_json(view);
  json["baseline"] = reference_json(view, view.baseline);
  json["comparator"] = reference_json(view, view.comparator);
  if (json["comparator"].is_object()) json["comparator"]["why"] = view.comparator_why;
  json["winner"] = reference_json(view, view.winner);
  json["nominees"] = Json::array();
  for (const NomineeView& nominee : view.nominees) json["nominees"].push_back(nominee_json(nominee));
  json["nearest_misses"] = Json::array();
  for (const NearestMiss& miss : view.nearest_misses) {
    json["nearest_misses"].push_back(
        {{"id", miss.id}, {"route", miss.route}, {"reason", miss.reason}, {"margin_left", miss.margin_left}});
  }
  json["candidates"] = Json::array();
  for (const auto& [id, candidate] : view.candidates) json["candidates"].push_back(candidate_json(candidate));
  return json;
}

}  // namespace fiel
