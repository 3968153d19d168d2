// Which admissible candidates are a choice at all? Those that no other one equals or beats in speed, memory and accuracy
// together: the Pareto set. By point estimates: an order to choose by, no claim (only the verdict is one).
//
// Whoever has no figure on an axis can't be compared there and is left out, and counted; an axis on which nobody has one
// is left out for all.
#pragma once

#include <optional>
#include <vector>

#include "report/view.h"

namespace fiel {

struct ParetoPoint {
  int id = 0;
  double ratio = 1;                               // times as fast as the comparator; the comparator itself has 1
  std::int64_t sessions = 0;                      // behind the ratio; 0: the comparator
  std::optional<std::int64_t> peak_memory_bytes;
  std::optional<double> margin_left;              // of the accuracy margin, on the tuning set
};

struct ParetoSet {
  std::vector<ParetoPoint> points;    // fastest first
  std::vector<std::string_view> axes; // "ratio", "peak_memory_bytes", "margin_left"
  int compared = 0;                   // admissible candidates with a figure on each axis
  int left_out = 0;                   // admissible ones without
};

ParetoSet pareto_set(const RunView& view);

}  // namespace fiel
