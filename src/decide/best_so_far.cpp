#include "decide/best_so_far.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/quantiles.h"

namespace fiel {
namespace {

// The sessions that say most of a candidate's speed: of the estimate, of the proof, of the race, else the first look.
std::vector<double> sessions_of(const Standing& standing, const CandidateState& state) {
  const auto nominee = standing.nominees.find(state.id);
  if (nominee != standing.nominees.end() && !nominee->second.sessions.empty()) {
    if (nominee->second.holdout == "confirmed" && !standing.estimate_log_ratios.empty()) return standing.estimate_log_ratios;
    std::vector<double> ratios;
    for (const PairSession& session : nominee->second.sessions) ratios.push_back(session.log_ratio);
    return ratios;
  }
  if (!state.race_log_ratios.empty()) return state.race_log_ratios;
  if (state.screen_log_ratio) return {*state.screen_log_ratio};
  return {};
}

}  // namespace

std::string best_so_far(const Standing& standing) {
  int best = 0;
  std::pair<bool, double> best_key{false, 0};
  for (const auto& [id, state] : standing.candidates) {
    const auto sessions = sessions_of(standing, state);
    if (id == standing.comparator || !in_the_race(state.status) || sessions.empty()) continue;
    const std::pair key{state.status == CandidateStatus::kAdmissible, stats::median(sessions)};
    if (best == 0 || key > best_key) {
      best = id;
      best_key = key;
    }
  }
  if (best == 0) return {};
  const auto sessions = sessions_of(standing, standing.candidates.at(best));
  const std::string over = standing.comparator ? fmt::format("#{}", *standing.comparator) : "the comparator";
  const std::string ratio = fmt::format("#{}: {:.2f}x {}", best, std::exp(best_key.second), over);
  if (sessions.size() == 1) return ratio + " at first sight, 1 session";
  const auto [low, high] = std::ranges::minmax(sessions);
  return fmt::format("{} [{:.2f}, {:.2f}], {} sessions", ratio, std::exp(low), std::exp(high), sessions.size());
}

}  // namespace fiel
