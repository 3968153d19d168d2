#include "decide/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "journal/record.h"
#include "stats/quantiles.h"

namespace fiel {
namespace {

constexpr std::array<std::pair<VerdictWord, std::string_view>, 4> kWords = {{
    {VerdictWord::kImproved, "improved"},
    {VerdictWord::kNotImproved, "not_improved"},
    {VerdictWord::kUndecided, "undecided"},
    {VerdictWord::kInfeasible, "infeasible"},
}};

constexpr std::size_t kNearestMisses = 5;

// Estimated from sessions that decided nothing: the median, from the 2nd smallest to the 2nd largest.
Json speedup_json(const Standing& standing, int winner) {
  std::vector<double> ratios = standing.estimate_log_ratios;
  if (ratios.empty()) return nullptr;
  Json json = {{"estimate", std::exp(stats::median(ratios))},
               {"sessions_deciding", standing.nominees.at(winner).sessions.size()},
               {"sessions_estimating", ratios.size()}};
  if (const auto interval = stats::second_smallest_to_second_largest(ratios)) {
    json["low"] = std::exp(interval->low);
    json["high"] = std::exp(interval->high);
    json["confidence"] = interval->confidence;
  }
  return json;
}

// Candidates that were scored and missed the accuracy contract, by how little they missed it.
Json nearest_misses(const Standing& standing) {
  std::vector<const CandidateState*> missed;
  for (const auto& [id, state] : standing.candidates) {
    if (state.accuracy_margin_left && !in_the_race(state.status)) missed.push_back(&state);
  }
  std::ranges::sort(missed, [](const auto* a, const auto* b) { return a->accuracy_margin_left > b->accuracy_margin_left; });
  if (missed.size() > kNearestMisses) missed.resize(kNearestMisses);
  Json json = Json::array();
  for (const auto* state : missed) {
    json.push_back({{"id", state->id}, {"route", to_string(state->route)}, {"reason", state->reason},
                    {"margin_left", *state->accuracy_margin_left}});
  }
  return json;
}

}  // namespace

std::string_view to_string(VerdictWord word) {
  for (const auto& [value, name] : kWords) {
    if (value == word) return name;
  }
  return "undecided";
}

std::optional<VerdictWord> parse_verdict_word(std::string_view name) {
  for (const auto& [value, text] : kWords) {
    if (text == name) return value;
  }
  return std::nullopt;
}

Result<Verdict> record_verdict(Lab& lab, const Verdict& verdict) {
  const Standing& standing = lab.standing;
  FIEL_TRY(lab.recorder.once("verdict", "verdict", [&]() -> Result<Record> {
    Json body = {{"verdict", to_string(verdict.word)}, {"reason", verdict.reason}, {"missing", verdict.missing}};
    const auto optional_id = [](const std::optional<int>& id) { return id ? Json(*id) : Json(nullptr); };
    body["ships"] = optional_id(verdict.ships);
    body["winner"] = optional_id(verdict.winner);
    body["baseline"] = optional_id(standing.baseline);
    body["comparator"] = optional_id(standing.comparator);
    if (standing.baseline) {
      body["baseline_admissible"] = in_the_race(standing.candidates.at(*standing.baseline).status);
    }
    if (verdict.winner) body["speedup"] = speedup_json(standing, *verdict.winner);
    body["nearest_misses"] = nearest_misses(standing);
    return Record{.body = std::move(body)};
  }));
  return verdict;
}

}  // namespace fiel
