#include "report/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/units.h"
#include "report/words.h"

namespace fiel {

bool by_throughput(const RunView& view) { return view.scenario == "offline" || view.objective == "throughput"; }

std::vector<const CandidateView*> ranked(const RunView& view) {
  std::vector<const CandidateView*> rows;
  for (const auto& [id, candidate] : view.candidates) rows.push_back(&candidate);
  const auto speed = [&](const CandidateView* candidate) {
    const auto shown = ratio_of(view, *candidate);
    if (candidate->id == view.comparator) return 1.0;
    return shown ? shown->ratio : 0.0;
  };
  std::ranges::stable_sort(rows, [&](const CandidateView* a, const CandidateView* b) {
    const bool a_counts = a->status == "admissible", b_counts = b->status == "admissible";
    return a_counts != b_counts ? a_counts : speed(a) > speed(b);
  });
  return rows;
}

std::string marks_of(const RunView& view, const CandidateView& candidate) {
  std::string marks;
  const auto add = [&](std::string_view mark) { marks += fmt::format("{}{}", marks.empty() ? "" : ", ", mark); };
  if (candidate.id == view.ships) add("ships");
  if (candidate.id == view.baseline) add("baseline");
  if (candidate.id == view.comparator && view.comparator != view.baseline) add("comparator");
  if (candidate.status != "admissible") {
    std::string kind = candidate.kind;
    std::ranges::replace(kind, '_', ' ');
    add(kind);
  } else if (std::ranges::find(view.equivalent, candidate.id) != view.equivalent.end() && view.equivalent.size() > 1) {
    add("equal");
  }
  return marks;
}

std::string speed_cell(const RunView& view, const CandidateView& candidate) {
  if (!candidate.latency) return "-";
  return by_throughput(view) ? fmt::format("{:.4g}/s", candidate.latency->per_second)
                             : format_duration(candidate.latency->p50_seconds);
}

std::optional<Spread> spread_of(const RunView& view, const CandidateView& candidate) {
  if (candidate.id == view.comparator) return std::nullopt;
  if (candidate.id == view.winner && view.speedup) {
    if (!view.speedup->low || !view.speedup->high) return std::nullopt;
    return Spread{*view.speedup->low, *view.speedup->high};
  }
  if (candidate.race_ratios.size() < 2) return std::nullopt;
  const auto [low, high] = std::ranges::minmax(candidate.race_ratios);
  return Spread{low, high};
}

std::string counts_words(const RunView& view) {
  std::map<std::string, int> counts;
  for (const auto& [id, candidate] : view.candidates) ++counts[candidate.status];
  std::string text = fmt::format("{} candidates:", view.candidates.size());
  std::string_view comma = " ";
  for (const char* status : {"admissible", "inadmissible", "failed", "duplicate", "undecided", "pruned"}) {
    if (counts[status] == 0) continue;
    text += fmt::format("{}{} {}", comma, counts[status], status);
    comma = ", ";
  }
  return text;
}

std::vector<std::pair<std::string, CandidateGroup>> groups_of(const RunView& view) {
  std::map<std::string, CandidateGroup> by_kind;
  for (const auto& [id, candidate] : view.candidates) {
    if (candidate.status != "admissible") by_kind[candidate.kind].push_back(&candidate);
  }
  std::vector<std::pair<std::string, CandidateGroup>> groups(by_kind.begin(), by_kind.end());
  std::ranges::stable_sort(groups, [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  return groups;
}

bool is_waiting(const std::string& kind, const CandidateGroup& group) {
  return kind == "tried" && group.front()->status == "undecided";
}

std::string_view group_words(const std::string& kind, const CandidateGroup& group) {
  return is_waiting(kind, group) ? "not judged in full yet" : kind_words(kind);
}

}  // namespace fiel
