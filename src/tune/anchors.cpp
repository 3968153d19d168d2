#include "tune/anchors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "decide/consistency.h"
#include "decide/judge_full.h"
#include "decide/session.h"
#include "decide/trial.h"
#include "journal/record.h"
#include "tune/engines.h"

namespace fiel {
namespace {

Result<HelloResult> greet(Lab& lab, const EngineHere& engine) {
  auto answer = ask_hello(start_worker(lab, engine, {}, "hello-" + engine.target.name), deadlines_for(lab.contract).hello);
  if (auto* hello = std::get_if<HelloResult>(&answer)) return std::move(*hello);
  const auto* failure = std::get_if<Failure>(&answer);
  FIEL_TRY(stop_if_not_its_fault(lab, *failure));
  return fail(ErrorKind::kEnvironment,
              fmt::format("engine {} does not work here: {}", engine.target.name, failure->message),
              fmt::format("`fiel engines` shows what is missing{}{}", failure->log_tail.empty() ? "" : "; its last words:\n",
                          failure->log_tail));
}

}  // namespace

Result<> meet_engines(Lab& lab, VariantUse use) {
  std::vector<EngineSpace> spaces;
  const VariantKnob variants = variant_knob(lab.model, lab.contract, use);
  lab.rewriter = variants.rewriter;
  lab.variants_note = variants.note;
  for (auto& [name, engine] : lab.engines) {
    engine.hello = FIEL_TRY(greet(lab, engine));
    const std::string version = engine.hello.version;
    const Json devices = engine.hello.devices;  // with their drivers, where an engine says them
    const Json body = FIEL_TRY(lab.recorder.once("engine/" + name, "engine", [&]() -> Result<Record> {
      Json knobs = Json::object();
      for (const Knob& knob : engine.hello.knobs) knobs[knob.name] = to_string(knob.kind);
      return Record{.body = {{"engine", name}, {"version", version}, {"devices", devices},
                             {"cpu_features", engine.hello.cpu_features}, {"knobs", knobs}}};
    }));
    if (body["version"] != version || body["devices"] != devices || body["cpu_features"] != Json(engine.hello.cpu_features)) {
      return fail(ErrorKind::kEnvironment,
                  fmt::format("this run was begun with {} {}; here is {} (or another device)", name,
                              body["version"].get<std::string>(), version),
                  "its timings would not be comparable: start a new run");
    }
    spaces.push_back(space_of(engine.hello, name, lab.contract, lab.shapes.size(), variants));
  }
  lab.space = FIEL_TRY(Space::create(std::move(spaces)));
  return {};
}

Result<BuildRoute> baseline_route(const Lab& lab) {
  if (lab.contract.baseline.empty()) return BuildRoute{.engine = lab.contract.engines.front().name, .settings = {}};
  auto route = parse_route(lab.contract.baseline, *lab.space);
  if (!route) return std::unexpected(std::move(route).error().with_context("[target] baseline"));
  return route;
}

Result<BuildRoute> reference_route(const Lab& lab) {
  if (lab.contract.accuracy.reference == ReferenceKind::kBaseline) return baseline_route(lab);
  return float32_route(lab, lab.contract.engines.front().name);
}

Result<> judge_anchors(Lab& lab) {
  const BuildRoute baseline = FIEL_TRY(baseline_route(lab));
  const BuildRoute reference = FIEL_TRY(reference_route(lab));
  std::vector<std::pair<BuildRoute, std::vector<std::string>>> anchors;
  const auto add = [&](const BuildRoute& route, const std::string& role) {
    const auto known = std::ranges::find_if(anchors, [&](const auto& anchor) { return anchor.first == route; });
    if (known == anchors.end()) {
      anchors.push_back({route, {role}});
    } else if (std::ranges::find(known->second, role) == known->second.end()) {
      known->second.push_back(role);
    }
  };
  add(reference, "reference");
  add(baseline, "baseline");
  for (const EngineTarget& engine : lab.contract.engines) {
    add({.engine = engine.name, .settings = {}}, "default");
    add(float32_route(lab, engine.name), "float32");
  }
  std::vector<int> ids;
  for (const auto& [route, roles] : anchors) {
    const int id = FIEL_TRY(register_candidate(lab, route, roles));
    ids.push_back(id);
    FIEL_TRY(build_candidate(lab, id));
    lab.progress.step(fmt::format("built {} ({})", to_string(route), fmt::join(roles, ", ")));
    if (id != 1) continue;
    FIEL_TRY(check_reference_built(lab, id));
    FIEL_TRY(make_reference(lab, id));
  }
  std::vector<int> admissible;
  for (const int id : ids) {
    // A limit makes the reference inadmissible, but it stays the yardstick, so it is judged all the same.
    if (id != 1 && !in_the_race(lab.standing.at(id).status)) continue;
    FIEL_TRY(judge_on_tuning(lab, id));
    const CandidateState& state = lab.standing.at(id);
    lab.progress.step(fmt::format("judged {}: {}{}{}", to_string(state.route), to_string(state.status),
                                  state.reason.empty() ? "" : ", ", state.reason));
    if (in_the_race(state.status)) admissible.push_back(id);
  }
  // One session gives the yardstick for predictions, and who is fastest where the baseline is not admissible.
  if (admissible.empty()) admissible.push_back(1);
  FIEL_TRY(run_session(lab, "anchors", "anchors", admissible));
  return {};
}

Result<Comparator> choose_comparator(Lab& lab) {
  const Json body = FIEL_TRY(lab.recorder.once("comparator", "comparator", [&]() -> Result<Record> {
    const Standing& standing = lab.standing;
    const auto baseline = standing.baseline;
    if (baseline && in_the_race(standing.candidates.at(*baseline).status)) {
      return Record{.body = {{"id", *baseline}, {"admissible", true}, {"why", "the baseline is admissible"}}};
    }
    const Json session = FIEL_TRY(lab.recorder.journal().body("anchors"));
    std::optional<int> fastest;
    double best = -std::numeric_limits<double>::infinity();
    for (const Json& entry : session["contenders"]) {
      const int id = entry["id"].get<int>();
      const double ratio = entry.value("log_ratio", 0.0);  // the first one's own is 0
      if (!in_the_race(standing.candidates.at(id).status) || !(ratio > best)) continue;
      fastest = id;
      best = ratio;
    }
    if (fastest) {
      return Record{.body = {{"id", *fastest}, {"admissible", true},
                             {"why", "the baseline is not admissible; this is the fastest admissible default or float32 "
                                     "route"}}};
    }
    return Record{.body = {{"id", 1}, {"admissible", false},
                           {"why", "no default or float32 route is admissible; the reference only lends its time"}}};
  }));
  return Comparator{.id = body["id"].get<int>(), .admissible = body["admissible"].get<bool>()};
}

Costs costs_so_far(const Lab& lab, int comparator, std::int64_t holdout_size) {
  Costs costs;
  if (const auto session = lab.recorder.journal().body("anchors")) {
    costs.session_seconds_per_process =
        (*session)["seconds"].get<double>() / static_cast<double>((*session)["contenders"].size());
  }
  const auto gate = lab.recorder.journal().body(fmt::format("candidate/{}/gate", comparator));
  if (gate && gate->contains("seconds")) costs.gate_seconds = (*gate)["seconds"].get<double>();
  const double gate_seconds_per_sample = costs.gate_seconds / std::max(1.0, static_cast<double>(lab.tuning.get().samples.size()));
  costs.holdout_seconds = gate_seconds_per_sample * static_cast<double>(holdout_size);
  costs.consistency_seconds = gate_seconds_per_sample * static_cast<double>(consistency_inferences(lab));
  return costs;
}

}  // namespace fiel
