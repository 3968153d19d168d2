#include "decide/trial.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/files.h"
#include "base/sync.h"
#include "base/units.h"
#include "decide/artifact.h"
#include "decide/places.h"
#include "decide/rounds.h"
#include "decide/variants.h"
#include "journal/record.h"
#include "model/model_file.h"

namespace fiel {
namespace {

constexpr int kProbeSamples = 64;

std::string candidate_digest(const Lab& lab, const BuildRoute& route) {
  const EngineHere& engine = lab.engines.at(route.engine);
  Sha256 digest;
  digest.field(lab.model.digest).field(engine.hello.engine).field(engine.hello.version);
  digest.field(lab.contract.device).field(to_string(route)).field(to_string(lab.contract.scenario));
  for (const std::string& feature : engine.hello.cpu_features) digest.field(feature);
  if (const auto variant = route.settings.find(std::string(kVariantKnob)); variant != route.settings.end()) {
    if (lab.calibration) digest.field(lab.calibration->digest);
    for (const VariantFile& file : lab.contract.variants) {
      if (file.name != variant->second) continue;
      digest.field(file.digest);
      for (const std::string& word : file.program) digest.field(word);
    }
  }
  for (const int core : lab.contract.cores) digest.field(fmt::format("{}", core));
  for (const TrafficShape& shape : lab.shapes) {
    for (const auto& [name, dims] : shape.inputs) digest.field(name).field(to_string(dims));
  }
  return digest.hex();
}

// Two candidates with the same identity would run the same graph in the same way. Settings that the engine does not read
// back may act in ways that the graph does not show, so what was asked for them counts.
// A variant is what its file is, whatever it is called.
std::string identity_of(const Lab& lab, const BuildRoute& route, const Effective& effective, const std::string& model_digest) {
  if (effective.graph_digest.empty()) return {};
  Sha256 digest;
  digest.field(route.engine).field(model_digest).field(effective.graph_digest);
  for (const auto& [name, value] : effective.settings) digest.field(name).field(value);
  for (const auto& [name, value] : route.settings) {
    const Knob* knob = lab.space->find_knob(route.engine, name);
    const bool read_back = effective.settings.contains(name);
    const bool environment = knob != nullptr && knob->kind == KnobKind::kEnvironment;
    if (knob != nullptr && knob->kind == KnobKind::kVariant) continue;
    if (environment || !read_back) digest.field(name).field(value);
  }
  return digest.hex();
}

Json with_outcome(Json body, CandidateStatus status, const std::string& reason) {
  set_outcome(body, status, reason);
  return body;
}

Json with_outcome(Json body, const Failure& failure) {
  set_outcome(body, failure);
  return body;
}

// Moves what the build left to its place by digest; the same bytes may be there already. They are on the disk before the
// journal says so.
Result<std::pair<std::string, std::int64_t>> keep_artifact(Lab& lab, const std::filesystem::path& from) {
  const std::string digest = FIEL_TRY(sha256_folder(from));
  const std::int64_t bytes = bytes_on_disk(from);
  std::error_code code;
  const auto place = artifact_folder(lab, digest);
  FIEL_TRY(ensure_folder(place.parent_path()));
  // One of that name that has other bytes was cut short by a power failure before any record named it.
  if (std::filesystem::exists(place) && FIEL_TRY(sha256_folder(place)) != digest) FIEL_TRY(remove_tree(place));
  if (!std::filesystem::exists(place)) {
    std::filesystem::rename(from, place, code);
    if (code) return fail(ErrorKind::kEnvironment, fmt::format("cannot keep {}: {}", place.string(), code.message()));
    FIEL_TRY(sync_tree(place));
    FIEL_TRY(sync_folder(lab.folder));  // which has the folder of artifacts
  }
  return std::pair(digest, bytes);
}

Result<Json> build_in_fresh_process(Lab& lab, int id, const BuildRoute& route, const Outcome<std::filesystem::path>& model) {
  Json body = {{"id", id}};
  if (const auto* failure = std::get_if<Failure>(&model)) return with_outcome(std::move(body), *failure);
  // Beside the scratch folder, not in it: a rename into the run's artifacts must stay on one file system.
  auto folder = FIEL_TRY(TempFolder::create(lab.folder / "scratch", "artifact-"));
  const auto artifact = folder.path() / "files";
  FIEL_TRY(ensure_folder(artifact));
  auto started = start_worker(lab, lab.engines.at(route.engine), route, fmt::format("candidate-{}", id), artifact);
  if (const auto* failure = std::get_if<Failure>(&started)) {
    FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    return with_outcome(std::move(body), *failure);
  }
  Worker& worker = *std::get<std::unique_ptr<Worker>>(started);
  const BuildOrder order{.model = std::get<std::filesystem::path>(model),
                         .device = lab.contract.device,
                         .settings = request_settings(lab, route),
                         .shapes = lab.shapes,
                         .artifact_dir = artifact};
  const double deadline = deadlines_for(lab.contract).build;
  const double left = seconds_for_building(lab, deadline);
  auto answer = request_build(worker, order, left);
  if (auto* failure = std::get_if<Failure>(&answer)) {
    FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    if (left < deadline && failure->kind == FailureKind::kTimeout) failure->message += " (what the search had left of its time)";
    return with_outcome(std::move(body), *failure);
  }
  const BuildResult& built = std::get<BuildResult>(answer);
  body["build_peak_memory_bytes"] = worker.usage().peak_memory_bytes;
  say_bye(worker);
  if (const std::string unfit = why_no_artifact(artifact); !unfit.empty()) {
    return with_outcome(std::move(body), CandidateStatus::kMistrusted, unfit);
  }
  const auto [digest, bytes] = FIEL_TRY(keep_artifact(lab, artifact));
  body["artifact"] = digest;
  body["artifact_bytes"] = bytes;
  body["build_seconds"] = built.build_seconds;
  body["effective"] = effective_json(built.effective);
  const std::string model_digest = order.model == lab.model.path ? lab.model.digest : FIEL_TRY(digest_model_file(order.model));
  body["identity"] = identity_of(lab, route, built.effective, model_digest);
  return body;
}

// What [limits] says of a build, in words; empty: within.
std::string build_over_limit(const Limits& limits, const Json& body) {
  if (limits.build_time_seconds && !(body["build_seconds"].get<double>() <= *limits.build_time_seconds)) {
    return fmt::format("build took {}, limit {}", format_duration(body["build_seconds"].get<double>()),
                       format_duration(*limits.build_time_seconds));
  }
  if (limits.artifact_bytes && body["artifact_bytes"].get<std::int64_t>() > *limits.artifact_bytes) {
    return fmt::format("artifact has {}, limit {}", format_bytes(body["artifact_bytes"].get<std::int64_t>()),
                       format_bytes(*limits.artifact_bytes));
  }
  return {};
}

// What is to be said of a build with all that was built before it in view.
Record judged_build(Lab& lab, int id, Record made) {
  Json& built = made.body;
  if (!built.contains("artifact")) return made;
  const std::string identity = built["identity"].get<std::string>();
  const auto twin = identity.empty() ? lab.identities.end() : lab.identities.find(identity);
  if (const std::string over = build_over_limit(lab.contract.limits, built); !over.empty()) {
    set_outcome(built, CandidateStatus::kOverLimit, over);
  } else if (twin != lab.identities.end() && lab.standing.at(id).roles.empty()) {
    built["same_as"] = twin->second;
    set_outcome(built, CandidateStatus::kDuplicate,
                fmt::format("same graph, effective settings and environment as candidate {}", twin->second));
  } else {
    set_outcome(built, CandidateStatus::kTried, "");
  }
  return made;
}

// With the next free id. Where the text is not the route's own, it is one that no route is written like.
Result<int> add_candidate(Lab& lab, const BuildRoute& route, const std::string& text, const std::vector<std::string>& roles) {
  const int id = static_cast<int>(lab.by_route.size()) + 1;
  FIEL_TRY(lab.recorder.once(fmt::format("candidate/{}", id), "candidate", [&]() -> Result<Record> {
    return Record{.body = {{"id", id},
                           {"digest", candidate_digest(lab, route)},
                           {"route", {{"engine", route.engine}, {"settings", route.settings}, {"text", text}}},
                           {"roles", roles}}};
  }));
  lab.by_route[text] = id;
  return id;
}

}  // namespace

Result<int> register_candidate(Lab& lab, const BuildRoute& route, const std::vector<std::string>& roles) {
  const std::string text = to_string(route);
  if (const auto known = lab.by_route.find(text); known != lab.by_route.end()) return known->second;
  return add_candidate(lab, route, text, roles);
}

Result<int> register_rebuild(Lab& lab, const BuildRoute& route, int number) {
  return add_candidate(lab, route, fmt::format("{} (build {})", to_string(route), number), {"rebuilt"});
}

Result<> build_candidate(Lab& lab, int id) {
  const std::string key = fmt::format("candidate/{}/build", id);
  const Json body = FIEL_TRY(lab.recorder.once(key, "build", [&]() -> Result<Record> {
    return judged_build(lab, id, FIEL_TRY(made_on_one_machine(lab, key, [&]() -> Result<Record> {
      const BuildRoute& route = lab.standing.at(id).route;
      const auto model = FIEL_TRY(model_of(lab, route));
      return Record{.body = FIEL_TRY(build_in_fresh_process(lab, id, route, model))};
    })));
  }));
  if (const std::string identity = body.value("identity", ""); !identity.empty()) {
    lab.identities.emplace(identity, id);  // the first one stays
  }
  return {};
}

Result<int> adopt_candidate(Lab& lab, const BuildRoute& route, const Adopted& built) {
  const auto place = artifact_folder(lab, built.digest);
  FIEL_TRY(ensure_folder(place.parent_path()));
  std::error_code code;
  if (!std::filesystem::exists(place)) {  // the reference may just have been built to the same bytes
    std::filesystem::copy(built.artifact, place, std::filesystem::copy_options::recursive, code);
  }
  if (code) return fail(ErrorKind::kEnvironment, fmt::format("cannot copy {}: {}", built.artifact.string(), code.message()));
  FIEL_TRY(check_artifact(lab, built.digest));
  const int id = FIEL_TRY(add_candidate(lab, route, to_string(route) + " (sealed)", {"sealed"}));
  FIEL_TRY(lab.recorder.once(fmt::format("candidate/{}/build", id), "build", [&]() -> Result<Record> {
    return Record{.body = with_outcome({{"id", id}, {"artifact", built.digest}}, CandidateStatus::kTried, "")};
  }));
  return id;
}

namespace {

using Reason = std::pair<CandidateStatus, std::string>;

// What loads must be what was built, and where it was asked to run.
std::optional<Reason> other_than_built(const Lab& lab, const Json& built, const Effective& loaded) {
  const std::string digest = object_or_empty(built, "effective").value("graph_digest", "");
  if (!digest.empty() && !loaded.graph_digest.empty() && digest != loaded.graph_digest) {
    return Reason(CandidateStatus::kMistrusted, "the loaded graph is not the one that was built");
  }
  const std::string& device = lab.contract.device;
  const bool one_device = device.find(':') == std::string::npos && device != "AUTO" && device != "HETERO";
  for (const auto& [place, nodes] : loaded.placement) {
    if (!one_device || place.starts_with(device) || nodes == 0) continue;
    return Reason(CandidateStatus::kFellBack, fmt::format("{} nodes ran on {} instead of {}", nodes, place, device));
  }
  return std::nullopt;
}

// `built` is the body of the build's record.
Result<Record> probe_and_screen(Lab& lab, int id, const BuildRoute& route, const Json& built, const PartnerHere& partner_here) {
  Json body = {{"id", id}};
  Live* const partner = partner_here ? FIEL_TRY(partner_here()) : nullptr;
  auto started = start_live(lab, id, route, built["artifact"].get<std::string>());
  if (const auto* failure = std::get_if<Failure>(&started)) {
    FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    return Record{.body = with_outcome(std::move(body), *failure)};
  }
  Live& live = std::get<Live>(started);
  body["load_seconds"] = live.loaded.load_seconds;
  body["effective"] = effective_json(live.loaded.effective);
  body["inputs"] = ports_json(live.loaded.inputs);
  body["outputs"] = ports_json(live.loaded.outputs);
  if (const auto other = other_than_built(lab, built, live.loaded.effective)) {
    return Record{.body = with_outcome(std::move(body), other->first, other->second)};
  }
  if (lab.reference) {
    const SampleSet& set = lab.tuning.get();
    auto indices = stratified_order(set, sub_seed(lab.seed, "probe"));
    if (indices.size() > kProbeSamples) indices.resize(kProbeSamples);
    auto outputs = infer_chunk(live, set, indices, deadlines_for(lab.contract));
    if (const auto* failure = std::get_if<Failure>(&outputs)) {
      FIEL_TRY(stop_if_not_its_fault(lab, *failure));
      return Record{.body = with_outcome(std::move(body), *failure)};
    }
    Judge judge(lab.contract, set, *lab.reference, lab.folder / "scratch", lab.cancel_fd);
    FIEL_TRY(judge.add(std::get<std::vector<SampleOutputs>>(outputs)));
    if (const auto verdict = judge.reject_early()) {
      body["gate"] = to_json(*verdict);
      return Record{.body = with_outcome(std::move(body), status_of(*verdict), verdict->message)};
    }
  }
  Record record{.body = std::move(body)};
  if (partner != nullptr) {
    const std::vector<Contender> contenders = {{.live = partner, .name = "partner"}, {.live = &live, .name = "candidate"}};
    const RoundsPlan plan = rounds_plan(lab, fmt::format("screen/{}", id));
    const RoundsResult rounds = FIEL_TRY(time_rounds(lab, contenders, plan));
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      if (const auto& failure = rounds.times[i].failure) {
        if (i == 0) return fail(ErrorKind::kDied, "the comparator's process failed while screening: " + failure->message);
        return Record{.body = with_outcome(std::move(record.body), *failure)};
      }
    }
    if (rounds.times[1].overloaded()) {
      record.body["rounds"] = rounds.json;
      return Record{.body = with_outcome(std::move(record.body), CandidateStatus::kOverloaded,
                                         rounds.times[1].why_overloaded)};
    }
    const auto ratio = session_log_ratio(rounds, 0, 1);
    if (const auto shown = ratio ? ratio : rough_log_ratio(rounds, 0, 1)) record.body["log_ratio"] = *shown;
    record.body["rejected_rounds"] = rounds.rejected_rounds;
    record.body["latency"] = latency_json(lab.contract.scenario, rounds.times[1]);
    if (Json told = accelerator_json(rounds.times[1]); !told.is_null()) record.body["accelerator"] = std::move(told);
    record.body["rounds"] = rounds.json;
    record.series = rounds_series(contenders, rounds);
  }
  record.body["peak_memory_bytes"] = live.worker->usage().peak_memory_bytes;
  say_bye(*live.worker);
  const std::string over = memory_over_limit(lab, record.body["peak_memory_bytes"].get<std::int64_t>());
  const auto status = over.empty() ? CandidateStatus::kTried : CandidateStatus::kOverLimit;
  record.body = with_outcome(std::move(record.body), status, over);
  return record;
}

}  // namespace

Result<> probe_candidate(Lab& lab, int id, const PartnerHere& partner) {
  FIEL_TRY(once_on_one_machine(lab, fmt::format("candidate/{}/probe", id), "probe", [&]() -> Result<Record> {
    const Json built = FIEL_TRY(lab.recorder.journal().body(fmt::format("candidate/{}/build", id)));
    return probe_and_screen(lab, id, lab.standing.at(id).route, built, partner);
  }));
  return {};
}

Crew::End try_ahead(Lab& lab, int id, const BuildRoute& route, const Outcome<std::filesystem::path>& model,
                    const PartnerHere& partner, TriedAhead& tried) {
  if (!tried.built.made) {
    const auto build = [&]() -> Result<Record> { return Record{.body = FIEL_TRY(build_in_fresh_process(lab, id, route, model))}; };
    if (tried.built.one(lab, build) == Crew::End::kAgain) return Crew::End::kAgain;
  }
  if (!*tried.built.made) return Crew::End::kDone;
  const Json& built = (*tried.built.made)->body;
  if (!built.contains("artifact") || lab.identities.contains(built.value("identity", "")) ||
      !build_over_limit(lab.contract.limits, built).empty()) {
    return Crew::End::kDone;
  }
  return tried.probed.one(lab, [&] { return probe_and_screen(lab, id, route, built, partner); });
}

Result<> check_reference_built(const Lab& lab, int id) {
  const CandidateState& state = lab.standing.candidates.at(id);
  if (!state.artifact.empty()) return {};
  return fail(ErrorKind::kContract,
              fmt::format("the reference ({}) can't be built: {}", to_string(state.route), state.reason),
              "without a reference nothing can be judged; does the model load in this engine by itself?");
}

BuildRoute float32_route(const Lab& lab, const std::string& engine) {
  return lab.space->canonical({.engine = engine, .settings = lab.engines.at(engine).hello.float32_settings});
}

}  // namespace fiel
