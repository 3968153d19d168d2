#include "tune/rebuild.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "decide/session.h"
#include "decide/trial.h"
#include "journal/record.h"
#include "tune/single.h"

namespace fiel {
namespace {

Result<std::string> graph_of(const Lab& lab, int id) {
  const Json built = FIEL_TRY(lab.recorder.journal().body(fmt::format("candidate/{}/build", id)));
  return object_or_empty(built, "effective").value("graph_digest", "");
}

Result<Rebuilt> rebuild_once(Lab& lab, int first, int number) {
  Rebuilt built{.id = FIEL_TRY(register_rebuild(lab, lab.standing.at(first).route, number))};
  built.admissible = FIEL_TRY(build_and_judge(lab, built.id));
  const CandidateState& state = lab.standing.at(built.id);
  built.status = to_string(state.status);
  built.reason = state.reason;
  built.same_bytes = !state.artifact.empty() && state.artifact == lab.standing.at(first).artifact;
  built.same_graph = FIEL_TRY(graph_of(lab, first)) == FIEL_TRY(graph_of(lab, built.id));
  if (!built.admissible) return built;
  lab.progress.stage("session", fmt::format("build {} against the first one", number));
  const auto view = FIEL_TRY(run_session(lab, fmt::format("rebuild/{}", number), "rebuild", {first, built.id}));
  built.log_ratio = view.entries[1].log_ratio;
  if (view.entries[1].fallen) {
    built.admissible = false;
    built.status = to_string(*view.entries[1].fallen);
    built.reason = view.entries[1].reason;
  }
  return built;
}

}  // namespace

Result<std::vector<Rebuilt>> rebuild(Lab& lab, int first, int times) {
  std::vector<Rebuilt> builds;
  for (int number = 2; number <= times + 1; ++number) builds.push_back(FIEL_TRY(rebuild_once(lab, first, number)));
  return builds;
}

std::string describe(const std::vector<Rebuilt>& builds) {
  std::string text;
  int number = 1;
  double least = 0, most = 0;
  for (const Rebuilt& built : builds) {
    text += fmt::format("  build {}: {}, {}{}", ++number, built.same_bytes ? "the same bytes" : built.same_graph ? "other bytes" : "another graph",
                        built.status, built.reason.empty() ? "" : ": " + built.reason);
    if (built.log_ratio) text += fmt::format(", {:.3f} times as fast as build 1", std::exp(*built.log_ratio));
    text += '\n';
    least = std::min(least, built.log_ratio.value_or(0));
    most = std::max(most, built.log_ratio.value_or(0));
  }
  const auto same = std::ranges::count_if(builds, &Rebuilt::same_bytes), good = std::ranges::count_if(builds, &Rebuilt::admissible);
  text += fmt::format("  of {} builds more {} gave the same bytes and {} are accurate; the fastest of all is {:.2f} % faster than the slowest\n",
                      builds.size(), same, good, 100 * (std::exp(most - least) - 1));
  if (same < std::ssize(builds)) text += "  what is measured is one build, and only its bytes can be relied on: ship those, don't build again\n";
  return text;
}

Json to_json(const std::vector<Rebuilt>& builds) {
  Json list = Json::array();
  for (const Rebuilt& built : builds) {
    list.push_back({{"id", built.id}, {"same_bytes", built.same_bytes}, {"same_graph", built.same_graph}, {"admissible", built.admissible},
                    {"status", built.status}, {"reason", built.reason},
                    {"ratio", built.log_ratio ? Json(std::exp(*built.log_ratio)) : Json(nullptr)}});
  }
  return list;
}

}  // namespace fiel
