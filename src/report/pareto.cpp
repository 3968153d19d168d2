#include "report/pareto.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/words.h"

namespace fiel {
namespace {

// No worse anywhere and better somewhere; without any tolerance, since only that is an order (near equals that each beat
// the next could beat one another in a circle).
bool beats(const ParetoPoint& a, const ParetoPoint& b) {
  const auto memory = [](const ParetoPoint& point) { return point.peak_memory_bytes.value_or(0); };
  const auto margin = [](const ParetoPoint& point) { return point.margin_left.value_or(0); };
  const bool no_worse = a.ratio >= b.ratio && memory(a) <= memory(b) && margin(a) >= margin(b);
  return no_worse && (a.ratio > b.ratio || memory(a) < memory(b) || margin(a) > margin(b));
}

std::optional<ParetoPoint> point_of(const RunView& view, const CandidateView& candidate) {
  ParetoPoint point{.id = candidate.id, .ratio = 1, .sessions = 0, .peak_memory_bytes = candidate.peak_memory_bytes,
                    .margin_left = candidate.margin_left};
  if (point.margin_left && !std::isfinite(*point.margin_left)) point.margin_left.reset();
  if (candidate.id == view.comparator) return point;
  const auto shown = ratio_of(view, candidate);
  if (!shown || !std::isfinite(shown->ratio)) return std::nullopt;
  point.ratio = shown->ratio;
  point.sessions = shown->sessions;
  return point;
}

}  // namespace

ParetoSet pareto_set(const RunView& view) {
  ParetoSet set;
  int admissible = 0;
  std::vector<ParetoPoint> points;
  for (const auto& [id, candidate] : view.candidates) {
    if (candidate.status != "admissible") continue;
    ++admissible;
    if (const auto point = point_of(view, candidate)) points.push_back(*point);
  }
  const bool by_memory = std::ranges::any_of(points, [](const ParetoPoint& point) { return point.peak_memory_bytes.has_value(); });
  const bool by_margin = std::ranges::any_of(points, [](const ParetoPoint& point) { return point.margin_left.has_value(); });
  set.axes.push_back("ratio");
  if (by_memory) set.axes.push_back("peak_memory_bytes");
  if (by_margin) set.axes.push_back("margin_left");
  std::erase_if(points, [&](const ParetoPoint& point) {
    return (by_memory && !point.peak_memory_bytes) || (by_margin && !point.margin_left);
  });
  set.compared = static_cast<int>(points.size());
  set.left_out = admissible - set.compared;
  // Whoever beats a point stands before it in this order, so that a look at the set so far is enough.
  std::ranges::stable_sort(points, [](const ParetoPoint& a, const ParetoPoint& b) {
    if (a.ratio != b.ratio) return a.ratio > b.ratio;
    if (a.peak_memory_bytes != b.peak_memory_bytes) return a.peak_memory_bytes < b.peak_memory_bytes;
    return a.margin_left > b.margin_left;
  });
  for (const ParetoPoint& point : points) {
    if (std::ranges::none_of(set.points, [&](const ParetoPoint& other) { return beats(other, point); })) set.points.push_back(point);
  }
  return set;
}

}  // namespace fiel
