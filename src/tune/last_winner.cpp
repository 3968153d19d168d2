#include "tune/last_winner.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "journal/record.h"

namespace fiel {
namespace {

// All that must be the same, from a run's first event and that of the winner's engine.
Json proven_with(const Json& run, const Json& engine) {
  const Json& machine = object_or_empty(run, "machine");
  const auto of = [](const Json& from, const char* key) { return from.contains(key) ? from[key] : Json(nullptr); };
  return {{"model", object_or_empty(run, "model").value("digest", "")},
          {"CPU", of(machine, "cpu")},
          {"number of CPUs", of(machine, "cores")},
          {"device", of(run, "device")},
          {"cores", of(run, "cores")},
          {"engine's version", of(engine, "version")},
          {"CPU features", of(engine, "cpu_features")},
          {"knobs", of(engine, "knobs")}};
}

// What differs, in words; empty: nothing.
std::string what_differs(const Json& then, const Json& now) {
  std::string names;
  for (const auto& [name, value] : now.items()) {
    if (!then.contains(name) || then[name] != value) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

}  // namespace

Result<Json> winner_of_run(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / "run.db")) return fail(ErrorKind::kUsage, fmt::format("{} holds no run", folder.string()));
  const Journal journal = FIEL_TRY(Journal::open_read_only(folder / "run.db"));
  const auto verdict = journal.body("verdict");
  if (!verdict || !verdict->contains("winner") || !(*verdict)["winner"].is_number()) return Json(nullptr);
  const Json run = FIEL_TRY(journal.body("run"));
  const Json candidate = FIEL_TRY(journal.body(fmt::format("candidate/{}", (*verdict)["winner"].get<int>())));
  const Json& route = object_or_empty(candidate, "route");
  const std::string engine = FIEL_TRY(get_string(route, "engine"));
  return Json{{"folder", folder.string()},
              {"run_id", run.value("run_id", "")},
              {"engine", engine},
              {"settings", object_or_empty(route, "settings")},
              {"proven_with", proven_with(run, FIEL_TRY(journal.body("engine/" + engine)))}};
}

Result<std::optional<BuildRoute>> last_winner(Lab& lab, const std::string& text, const Space& space) {
  if (text.empty()) return std::nullopt;
  const Json kept = FIEL_TRY(parse_json(text));
  BuildRoute route{.engine = kept.value("engine", ""), .settings = {}};
  for (const auto& [name, value] : object_or_empty(kept, "settings").items()) {
    if (value.is_string()) route.settings[name] = value.get<std::string>();
  }
  const Json body = FIEL_TRY(lab.recorder.once("search/last_winner", "last_winner", [&]() -> Result<Record> {
    std::string why_not;
    if (!lab.engines.contains(route.engine)) {
      why_not = "this contract has no engine " + route.engine;
    } else {
      const Json run = FIEL_TRY(lab.recorder.journal().body("run"));
      const Json now = proven_with(run, FIEL_TRY(lab.recorder.journal().body("engine/" + route.engine)));
      if (const auto differs = what_differs(object_or_empty(kept, "proven_with"), now); !differs.empty()) {
        why_not = "not the same as then: " + differs;
      } else if (const auto valid = space.validate(route); !valid) {
        why_not = valid.error().message;
      }
    }
    return Record{.body = {{"run", kept.value("folder", "")}, {"route", to_string(route)}, {"fits", why_not.empty()}, {"why_not", why_not}}};
  }));
  const bool fits = body["fits"].get<bool>();
  lab.progress.step(fmt::format("the winner of {} ({}) {}{}", body["run"].get<std::string>(), body["route"].get<std::string>(),
                                fits ? "is tried first" : "is no start here: ", body["why_not"].get<std::string>()));
  if (!fits) return std::nullopt;
  return space.canonical(std::move(route));
}

}  // namespace fiel
