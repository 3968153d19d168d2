#include "report/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/candidates.h"
#include "report/fields.h"
#include "report/phases.h"
#include "stats/noise.h"

namespace fiel {
namespace {

constexpr std::size_t kFewestForDeviation = 3;

std::optional<int> id_at(const Json& body, std::string_view key) {
  const auto id = fields::integer(body, key);
  return id ? std::optional(static_cast<int>(*id)) : std::nullopt;
}

void take_run(RunView& view, const Json& body) {
  view.run_json = dump_json(body);
  view.contract_file = fields::text(body, "contract_file");
  view.scenario = fields::text(body, "scenario");
  view.objective = fields::text(body, "objective");
  view.claim = fields::text(body, "claim");
  view.min_gain = fields::number(body, "min_gain").value_or(0);
  view.budget.wall_seconds = fields::number(body, "wall_seconds");
  const Json& data = fields::member(body, "data");
  view.tuning_samples = fields::integer(fields::member(data, "tuning"), "n").value_or(0);
  view.holdout_samples = fields::integer(fields::member(data, "holdout"), "n").value_or(0);
}

void take_speedup(RunView& view, const Json& json) {
  const auto estimate = fields::number(json, "estimate");
  if (!estimate) return;
  view.speedup = Speedup{.estimate = *estimate,
                         .low = fields::number(json, "low"),
                         .high = fields::number(json, "high"),
                         .confidence = fields::number(json, "confidence"),
                         .sessions_deciding = fields::integer(json, "sessions_deciding").value_or(0),
                         .sessions_estimating = fields::integer(json, "sessions_estimating").value_or(0)};
}

// Every event that timed something has its rounds, and how many of them counted for nothing.
void take_rounds(NoiseView& noise, const Json& body) {
  const Json& rounds = fields::member(body, "rounds");
  if (rounds.is_array()) noise.rounds += static_cast<std::int64_t>(rounds.size());
  noise.rejected_rounds += fields::integer(body, "rejected_rounds").value_or(0);
}

// Of the sessions that measured one pair again and again; what varies between them is what a claim rests on.
std::optional<double> deviation_of(const Standing& standing) {
  std::vector<double> most = standing.estimate_log_ratios;
  for (const auto& [id, nominee] : standing.nominees) {
    if (nominee.sessions.size() <= most.size()) continue;
    most.clear();
    for (const PairSession& session : nominee.sessions) most.push_back(session.log_ratio);
  }
  return most.size() < kFewestForDeviation ? std::nullopt : stats::standard_deviation(most);
}

void take_verdict(RunView& view, const Json& body) {
  view.verdict = fields::text(body, "verdict");
  view.reason = fields::text(body, "reason");
  view.missing = fields::texts(body, "missing");
  view.winner = id_at(body, "winner");
  view.ships = id_at(body, "ships");
  take_speedup(view, fields::member(body, "speedup"));
  for (const Json& miss : fields::member(body, "nearest_misses")) {
    view.nearest_misses.push_back({.id = id_at(miss, "id").value_or(0),
                                   .route = fields::text(miss, "route"),
                                   .reason = fields::text(miss, "reason"),
                                   .margin_left = fields::number(miss, "margin_left").value_or(0)});
  }
}

void take_search(RunView& view, const Json& body) {
  SearchView search{.strategy = fields::text(body, "strategy"),
                    .space_size = fields::number(body, "space_size").value_or(0),
                    .tried = fields::integer(body, "tried").value_or(0),
                    .all_tried = false,
                    .uniform_draws = fields::ids(body, "uniform_draws"),
                    .draws_put_off = fields::integer(body, "draws_put_off").value_or(0)};
  const auto asked = fields::number(body, "asked");
  search.all_tried = asked && search.space_size > 0 && *asked >= search.space_size;
  view.search = std::move(search);
}

void take_end_of_proof(RunView& view, const Json& body) {
  const auto id = id_at(body, "id");
  for (NomineeView& nominee : view.nominees) {
    if (nominee.id != id) continue;
    nominee.message = fields::text(body, "message");
    nominee.e_value = fields::number(body, "e_value");
  }
}

void take_opening(RunView& view, const Json& body) {
  for (NomineeView& nominee : view.nominees) {
    if (nominee.id == id_at(body, "id")) nominee.opening = id_at(body, "opening");
  }
}

void take_nominees(RunView& view, const Standing& standing) {
  for (const int id : standing.nominees_in_order) {
    NomineeView nominee{.id = id, .turn = static_cast<int>(view.nominees.size()) + 1, .alpha = 0, .opening = {}, .sessions = {},
                        .speed = {}, .holdout = {}, .message = {}, .e_value = {}};
    if (const auto found = standing.nominees.find(id); found != standing.nominees.end()) {
      nominee.alpha = found->second.alpha;
      nominee.speed = found->second.speed;
      nominee.holdout = found->second.holdout;
      for (const PairSession& session : found->second.sessions) {
        nominee.sessions.push_back({.ratio = std::exp(session.log_ratio), .win = session.win});
      }
    }
    view.nominees.push_back(std::move(nominee));
  }
}

// Saved per execution: t - t/s for a comparator's t and the least speed-up s that the interval allows (methodology E). With
// t = 10 ms and s = 1.25, 2 ms are saved, and 600 s of tuning are paid back after 300,000 executions.
std::optional<BreakEven> break_even(const RunView& view, const Json& run) {
  const auto planned = fields::integer(run, "executions");
  if (view.verdict.empty() || !(planned || view.winner)) return std::nullopt;  // nobody asked, and nothing is saved
  if (view.scenario == "server") return std::nullopt;  // a shorter wait is worth something, but saves no machine time
  BreakEven result{.planned_executions = planned, .of = view.objective, .saved_seconds_per_execution = 0, .executions = {}};
  const CandidateView* comparator = view.find(view.comparator);
  if (!view.speedup || !view.speedup->low || comparator == nullptr) return result;
  const auto cost = comparator->latency ? seconds_per_execution(*comparator->latency, view.scenario, view.objective) : std::nullopt;
  if (!cost || !(*view.speedup->low > 1)) return result;
  result.saved_seconds_per_execution = *cost * (1 - 1 / *view.speedup->low);
  // A second of serving and one of tuning may have different prices.
  const double serving = fields::number(run, "serving_cost_per_hour").value_or(1);
  const double tuning = fields::number(run, "tuning_cost_per_hour").value_or(1);
  const double executions = view.budget.spent_seconds * tuning / (result.saved_seconds_per_execution * serving);
  if (executions < 9e18) result.executions = static_cast<std::int64_t>(std::ceil(executions));
  return result;
}

MachineUse& machine_at(RunView& view, const Json& place) {
  const std::string node = fields::text(place, "node"), job = fields::text(place, "job");
  const auto known = std::ranges::find_if(view.machines, [&](const MachineUse& one) { return one.node == node && one.job == job; });
  if (known != view.machines.end()) return *known;
  return view.machines.emplace_back(MachineUse{.node = node, .job = job});
}

void take_machines(RunView& view, const Json& body) {
  if (const Json& place = fields::member(body, "place"); place.is_object()) ++machine_at(view, place).steps;
  if (const Json& lost = fields::member(body, "lost_on"); lost.is_array()) {
    for (const Json& place : lost) ++machine_at(view, place).lost;
  }
}

Result<> take_events(RunView& view, const Journal& journal, const Standing& standing) {
  CandidateReader reader;
  take_nominees(view, standing);
  for (const Event& event : journal.events()) {
    const Json body = FIEL_TRY(parse_json(event.body));
    reader.take(event, body);
    if (event.type == "run") take_run(view, body);
    if (event.type == "engine") {
      view.engines.push_back({.name = fields::text(body, "engine"), .version = fields::text(body, "version"),
                              .devices = fields::texts(body, "devices"),
                              .cpu_features = fields::texts(body, "cpu_features")});
    }
    if (event.type == "comparator") view.comparator_why = fields::text(body, "why");
    if (event.type == "search_end") take_search(view, body);
    if (event.type == "confirm_end") take_end_of_proof(view, body);
    if (event.type == "opening") take_opening(view, body);
    if (event.type == "verdict") take_verdict(view, body);
    take_rounds(view.noise, body);
    take_machines(view, body);
  }
  view.noise.session_deviation = deviation_of(standing);
  if (view.speedup) {
    for (const double log_ratio : standing.estimate_log_ratios) view.speedup->session_ratios.push_back(std::exp(log_ratio));
  }
  view.candidates = reader.finish(standing, view);
  return {};
}

}  // namespace

const CandidateView* RunView::find(std::optional<int> id) const {
  const auto found = id ? candidates.find(*id) : candidates.end();
  return found == candidates.end() ? nullptr : &found->second;
}

std::optional<double> cost_seconds(const RunView& view, const CandidateView& candidate) {
  if (!candidate.latency) return std::nullopt;
  if (view.scenario == "offline" || view.objective == "throughput") {
    return candidate.latency->per_second > 0 ? std::optional(1 / candidate.latency->per_second) : std::nullopt;
  }
  return view.objective == "latency_p50" ? candidate.latency->p50_seconds : candidate.latency->mean_seconds;
}

Result<RunView> read_run(const std::filesystem::path& folder) {
  const Journal journal = FIEL_TRY(Journal::open_read_only(folder / "run.db"));
  const Standing standing = FIEL_TRY(Standing::of(journal));
  RunView view;
  view.folder = folder;
  view.stage = standing.stage.empty() ? "" : phase_of(standing.stage);
  view.reference = standing.reference;
  view.baseline = standing.baseline;
  view.comparator = standing.comparator;
  view.equivalent = standing.equivalent;
  view.budget.stop_reason = standing.stop_reason;
  view.budget.phases = time_by_phase(journal.events());
  if (!journal.events().empty()) view.budget.spent_seconds = journal.events().back().spent_seconds;
  FIEL_TRY(take_events(view, journal, standing));
  if (const CandidateView* baseline = view.find(view.baseline)) {
    view.baseline_admissible = baseline->status == "admissible" || baseline->kind == "tried";
  }
  view.break_even = break_even(view, fields::parsed(view.run_json));
  return view;
}

}  // namespace fiel
