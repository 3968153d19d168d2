// Several kinds of hardware, a run for each: what won where, and does one artifact serve all of them? Never joins their timings.
#pragma once

#include <string>
#include <vector>

#include "report/view.h"

namespace fiel {

struct TargetRun {
  std::string name;
  RunView view;
};

/// Something that every run found admissible.
struct OneForAll {
  std::string route;
  std::string artifact;             // empty: each kind of machine builds other bytes for this route
  std::vector<double> times_slower;  // than what ships there, by run; of latencies as each run has them, no proof
};

/// The one whose worst case is best, that of the same bytes everywhere first; nullopt: there is none, or a run ships nothing.
std::optional<OneForAll> best_for_all(const std::vector<TargetRun>& runs);

std::string targets_text(const std::vector<TargetRun>& runs);

}  // namespace fiel
