#include "decide/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/units.h"
#include "decide/rounds.h"
#include "decide/session.h"
#include "journal/record.h"
#include "stats/quantiles.h"

namespace fiel {
namespace {

constexpr double kMaxRejectedShare = 0.2;
constexpr std::size_t kFewestSessions = 2;  // with a session lost to noise a candidate is still ranked, with two it is not

struct Ranked {
  int id = 0;
  double log_ratio = 0;  // median over sessions
};

/// All latencies of a candidate in the race's sessions, ascending.
Result<std::vector<double>> pooled_latencies(const Lab& lab, int id) {
  std::vector<double> all;
  for (int session = 1; session <= kMostRaceSessions; ++session) {
    const Event* event = lab.recorder.journal().find(fmt::format("race/{}", session));
    if (event == nullptr) break;
    const Series series = FIEL_TRY(lab.recorder.journal().series(event->number));
    if (const auto found = series.find(fmt::format("{}", id)); found != series.end()) {
      all.insert(all.end(), found->second.begin(), found->second.end());
    }
  }
  std::ranges::sort(all);
  return all;
}

// Empty: within the limit. A limit on the tail is held by an upper bound where there are enough timings for one.
std::string p99_over_limit(const Limits& limits, const std::vector<double>& sorted) {
  const auto& limit = limits.latency_p99_seconds;
  if (!limit) return {};
  if (sorted.empty()) return "no timings";
  const auto bound = stats::percentile_upper_bound(sorted, 0.99, kTailConfidence);
  const double p99 = bound ? bound->value : sorted.back();
  if (p99 <= *limit) return {};
  return fmt::format("latency p99 {} ({} of {} timings), limit {}", format_duration(p99),
                     bound ? fmt::format("{:.0f} % upper bound", 100 * kTailConfidence) : "largest", sorted.size(),
                     format_duration(*limit));
}

// The declared order among equals: more accuracy to spare, then less memory, then fewer changed settings.
bool preferred(const CandidateState& a, const CandidateState& b) {
  const auto key = [](const CandidateState& state) {
    const double margin = std::round(20 * state.accuracy_to_spare.value_or(0)) / 20;  // in steps of 5 % of the margin
    // Peaks of equal processes differ by some per cent; steps of about 10 % are differences that a user would see.
    const double memory = std::round(std::log(std::max<double>(1, static_cast<double>(state.peak_memory_bytes))) / 0.1);
    return std::tuple(-margin, memory, state.route.settings.size(), state.id);
  };
  return key(a) < key(b);
}

Result<Record> rank(Lab& lab, int comparator, const std::vector<int>& entrants) {
  const double needed = std::log1p(lab.contract.min_gain);
  Json contenders = Json::array();
  std::vector<Ranked> ranked;
  std::vector<int> all = entrants;
  all.push_back(comparator);
  for (const int id : all) {
    Json entry = {{"id", id}};
    const auto sorted = FIEL_TRY(pooled_latencies(lab, id));
    if (!sorted.empty() && lab.contract.scenario != Scenario::kOffline) {
      const double seconds = std::accumulate(sorted.begin(), sorted.end(), 0.0);
      // In the open loop of `server` requests wait beside each other, and the rate is theirs, not the engine's.
      const bool server = lab.contract.scenario == Scenario::kServer;
      entry["latency"] = latency_summary(sorted, server ? lab.contract.target_qps.value_or(0)
                                                        : static_cast<double>(sorted.size()) / seconds);
    }
    const CandidateState& state = lab.standing.at(id);
    if (const std::string over = p99_over_limit(lab.contract.limits, sorted); !over.empty()) {
      set_outcome(entry, CandidateStatus::kOverLimit, over);
    } else if (id != comparator && in_the_race(state.status) && state.race_log_ratios.size() >= kFewestSessions) {
      ranked.push_back({.id = id, .log_ratio = stats::median(state.race_log_ratios)});
      entry["estimate_log_ratio"] = ranked.back().log_ratio;
    }
    contenders.push_back(std::move(entry));
  }
  std::ranges::sort(ranked, [](const Ranked& a, const Ranked& b) { return a.log_ratio > b.log_ratio; });
  std::vector<int> equivalent;
  for (const Ranked& entry : ranked) {
    if (entry.log_ratio >= ranked.front().log_ratio - needed) equivalent.push_back(entry.id);
  }
  std::ranges::sort(equivalent,
                    [&](int a, int b) { return preferred(lab.standing.at(a), lab.standing.at(b)); });
  const auto estimate = [&](int id) {
    return std::ranges::find_if(ranked, [&](const Ranked& r) { return r.id == id; })->log_ratio;
  };
  std::vector<int> order = equivalent;
  for (const Ranked& entry : ranked) {
    if (std::ranges::find(order, entry.id) == order.end()) order.push_back(entry.id);
  }
  std::vector<Finalist> worth;
  for (const int id : order) {
    if (!(estimate(id) > needed)) continue;
    const CandidateState& state = lab.standing.at(id);
    worth.push_back({.id = id, .route = state.route, .to_spare = state.accuracy_to_spare.value_or(0),
                     .log_ratios = state.race_log_ratios});
  }
  const auto nominees = choose_nominees(without_idle_settings(worth, worth));
  return Record{.body = {{"contenders", contenders}, {"equivalent", equivalent}, {"nominees", nominees}}};
}

}  // namespace

bool too_noisy(int rounds, int rejected_rounds) { return rejected_rounds > kMaxRejectedShare * rounds; }

Result<RaceResult> race(Lab& lab, int comparator, const std::vector<int>& entrants, const TimeLeft& time_left) {
  RaceResult result;
  int undisturbed = 0;
  for (int session = 1; undisturbed < kRaceSessions && session <= kMostRaceSessions; ++session) {
    if (session > kRaceSessions && !time_left()) break;
    // One that fell in an earlier session does not start again.
    std::vector<int> ids = {comparator};
    for (const int id : entrants) {
      if (lab.standing.at(id).status == CandidateStatus::kAdmissible) ids.push_back(id);
    }
    // A comparator alone runs only where its tail must be held against a limit.
    if (ids.size() == 1 && !lab.contract.limits.latency_p99_seconds) break;
    const auto view = FIEL_TRY(run_session(lab, fmt::format("race/{}", session), "race", ids));
    result.rounds += view.rounds;
    result.rejected_rounds += view.rejected_rounds;
    const bool disturbed = too_noisy(view.rounds, view.rejected_rounds);
    if (!disturbed) ++undisturbed;
    lab.progress.step(fmt::format("session {}: {} candidates, {} rounds{}; {} of {}", session, ids.size(), view.rounds,
                                  view.rejected_rounds > 0 ? fmt::format(" ({} rejected)", view.rejected_rounds) : "", undisturbed,
                                  kRaceSessions));
  }
  const Json body = FIEL_TRY(lab.recorder.once("race/end", "race_end", [&] { return rank(lab, comparator, entrants); }));
  result.nominees = body["nominees"].get<std::vector<int>>();
  return result;
}

}  // namespace fiel
