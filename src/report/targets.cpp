#include "report/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>


namespace fiel {
namespace {

constexpr std::size_t kArtifactShown = 12;

const CandidateView* with_route(const RunView& view, const std::string& route) {
  const auto found = std::ranges::find_if(view.candidates, [&](const auto& one) { return one.second.route == route; });
  return found == view.candidates.end() ? nullptr : &found->second;
}

// How a route does in all runs; nullopt where one of them did not find it admissible.
std::optional<OneForAll> everywhere(const std::vector<TargetRun>& runs, const std::string& route) {
  OneForAll shared{.route = route, .artifact = {}, .times_slower = {}};
  bool same_bytes = true;
  for (const TargetRun& run : runs) {
    const CandidateView* ships = run.view.find(run.view.ships);
    const CandidateView* here = with_route(run.view, route);
    if (ships == nullptr || here == nullptr || here->status != "admissible") return std::nullopt;
    const auto cost = cost_seconds(run.view, *here), best = cost_seconds(run.view, *ships);
    if (!cost || !best || !(*best > 0)) return std::nullopt;
    shared.times_slower.push_back(here == ships ? 1 : *cost / *best);
    if (shared.artifact.empty()) shared.artifact = here->artifact;
    same_bytes = same_bytes && here->artifact == shared.artifact;
  }
  if (!same_bytes) shared.artifact.clear();
  return shared;
}

double worst(const OneForAll& shared) { return std::ranges::max(shared.times_slower); }

std::string ships_words(const TargetRun& run) {
  const CandidateView* ships = run.view.find(run.view.ships);
  if (run.view.verdict.empty()) return "no verdict yet";
  if (ships == nullptr) return fmt::format("{}: nothing ships", run.view.verdict);
  const std::string by = run.view.speedup ? fmt::format(", {:.3f} times as fast as before", run.view.speedup->estimate) : "";
  return fmt::format("{}{}: {}, artifact {}", run.view.verdict, by, ships->route, ships->artifact.substr(0, kArtifactShown));
}

}  // namespace

std::optional<OneForAll> best_for_all(const std::vector<TargetRun>& runs) {
  std::optional<OneForAll> best;
  if (runs.empty()) return best;
  for (const auto& [id, candidate] : runs.front().view.candidates) {
    auto shared = everywhere(runs, candidate.route);
    if (!shared) continue;
    const auto rank = [](const OneForAll& one) { return std::pair(one.artifact.empty(), worst(one)); };
    if (!best || rank(*shared) < rank(*best)) best = std::move(shared);
  }
  return best;
}

std::string targets_text(const std::vector<TargetRun>& runs) {
  std::string text = "targets\n";
  for (const TargetRun& run : runs) text += fmt::format("  {}: {}\n", run.name, ships_words(run));
  const auto shared = best_for_all(runs);
  if (!shared) return text + "one for all: no route was found admissible on every target\n";
  std::vector<std::string> slower;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    slower.push_back(fmt::format("{:.3f} times what ships on {}", shared->times_slower[i], runs[i].name));
  }
  if (shared->artifact.empty()) {
    return text + fmt::format("one for all: no artifact, since each target builds other bytes; the route {} is admissible on every one, and takes {}\n",
                              shared->route, fmt::join(slower, ", "));
  }
  const bool is_best = std::ranges::all_of(shared->times_slower, [](double times) { return times <= 1; });
  if (is_best) return text + fmt::format("one for all: yes, artifact {} ({}) ships on every target\n", shared->artifact.substr(0, kArtifactShown), shared->route);
  return text + fmt::format("one for all: artifact {} ({}) is admissible on every target, and takes {} (latencies of each run, no proof)\n",
                            shared->artifact.substr(0, kArtifactShown), shared->route, fmt::join(slower, ", "));
}

}  // namespace fiel
