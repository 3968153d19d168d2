#include "report/html_dots.h"

#include <algorithm>
#include <map>

#include "report/html_parts.h"

namespace fiel {
namespace {

constexpr std::size_t kMostNamed = 60;  // beyond that only the finalists are more than specks

MarkStyle style_of(const RunView& view, const CandidateView& candidate) {
  if (candidate.id == view.ships) return {Mark2D::kDot, "ours"};
  if (candidate.status == "admissible") return {Mark2D::kDot, "good"};
  if (candidate.status == "inadmissible") return {Mark2D::kCross, "bad"};
  return {Mark2D::kRing, "dim"};
}

}  // namespace

void add_dots(Chart& chart, const RunView& view, const std::vector<Dot>& dots) {
  std::vector<const Dot*> named;
  std::map<std::string_view, std::vector<Point>> specks;
  for (const Dot& dot : dots) {
    const CandidateView& candidate = *dot.candidate;
    if (dots.size() <= kMostNamed || candidate.id == view.ships || !candidate.race_ratios.empty()) {
      named.push_back(&dot);
    } else {
      specks[style_of(view, candidate).css].push_back(dot.at);
    }
  }
  for (const char* css : {"dim", "bad", "good"}) chart.specks(specks[css], css);
  // What may ship lies above the rest.
  std::ranges::stable_sort(named, {}, [&](const Dot* dot) { return dot->candidate->status == "admissible"; });
  for (const Dot* dot : named) {
    chart.mark(dot->at, style_of(view, *dot->candidate), dot->title, candidate_target(dot->candidate->id));
  }
  for (const Dot* dot : named) {
    const int id = dot->candidate->id;
    if (id == view.ships) chart.label(dot->at, "#" + std::to_string(id) + " ships");
    if (id == view.baseline && id != view.ships) chart.label(dot->at, "#" + std::to_string(id) + " baseline");
  }
}

std::vector<LegendEntry> legend_of_dots() {
  return {{{Mark2D::kDot, "ours"}, "ships"},
          {{Mark2D::kDot, "good"}, "admissible"},
          {{Mark2D::kCross, "bad"}, "outside the contract: out of the comparison"},
          {{Mark2D::kRing, "dim"}, "failed, or not judged in full"}};
}

}  // namespace fiel
