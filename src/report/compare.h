// May two runs be compared, and what changed between them? Speaks of what their journals and frozen contracts hold. Gives no
// ratio between the two: they were not measured side by side, so each speed-up stands beside its own comparator.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "report/view.h"

namespace fiel {

struct RunSide {
  RunView view;
  std::map<std::string, std::string> terms;  // of its contract; empty where that can't be read any more
};

/// Also of a run that is going on or was broken off.
Result<RunSide> read_side(const std::filesystem::path& folder);

struct Difference {
  std::string what;           // "model", "accuracy.task exact_match", "engine openvino"
  std::string first, second;  // in words; "-" where one run does not have it
  bool blocks = false;        // another question, another machine or another engine: the runs may not be compared
};

struct Comparison {
  std::vector<Difference> differences;  // those that block come first

  bool comparable() const;
};

Comparison compare_runs(const RunSide& first, const RunSide& second);

std::string format_comparison(const RunSide& first, const RunSide& second, int width);
Json comparison_json(const RunSide& first, const RunSide& second);

}  // namespace fiel
