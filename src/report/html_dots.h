// Candidates as marks of a chart: what a shape means is the same in all of them. The ones that matter say who they are and lead to
// their rows; of many, the rest are specks.
#pragma once

#include <vector>

#include "report/chart.h"
#include "report/view.h"

namespace fiel {

struct Dot {
  const CandidateView* candidate = nullptr;
  Point at;
  std::string title;
};

void add_dots(Chart& chart, const RunView& view, const std::vector<Dot>& dots);
std::vector<LegendEntry> legend_of_dots();

}  // namespace fiel
