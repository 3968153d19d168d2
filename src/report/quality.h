// How much of the space may still hold something better? Never "this is the optimum": what can be said comes from the
// routes that the search drew uniformly, whatever else it tried.
//
// Of n uniform draws none is among the best share q of the space with probability (1-q)^n; so if none of them beats the best
// that was tried, at most q = 1 - 0.05^(1/n) of all routes do, with 95 % confidence: 59 draws leave 5 %, 299 leave 1 %
// (methodology C1). Draws that may beat it (not judged in full, faster at first sight) count against it: the bound is
// Clopper's and Pearson's, which is the formula above where there are none.
#pragma once

#include <optional>
#include <string>

#include "report/view.h"

namespace fiel {

struct QualityStatement {
  std::string sentence;                 // with its n, and what it does not say
  std::optional<int> best;              // the fastest admissible candidate that was tried
  std::int64_t draws = 0;               // uniform ones that were tried
  std::int64_t may_be_better = 0;       // of these
  std::optional<double> left_at_most;   // share of the space; nothing where nothing was drawn; 0: all was tried
  double confidence = 0.95;
};

/// Nothing while the search goes on.
std::optional<QualityStatement> quality_statement(const RunView& view);

}  // namespace fiel
