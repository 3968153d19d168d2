// The candidates that are there before any search: the reference, what the user runs today, each engine's default and its
// float32 route. Who judges the others, and who must be beaten.
#pragma once

#include <string_view>

#include "decide/lab.h"
#include "decide/variants.h"
#include "tune/plan.h"

namespace fiel {

/// Starts every engine of the contract once, asks what it can do, and makes the space. An engine that is missing or
/// broken is an error that says how to get it.
Result<> meet_engines(Lab& lab, VariantUse use = VariantUse::kMade);

/// The baseline's route: the contract's, else the first engine's defaults.
Result<BuildRoute> baseline_route(const Lab& lab);

/// The route whose outputs judge the others: strict float32 on the first engine, or the baseline where the contract says so.
Result<BuildRoute> reference_route(const Lab& lab);

/// Builds and judges all anchors in full, and times those that are admissible once against each other.
Result<> judge_anchors(Lab& lab);

struct Comparator {
  int id = 0;
  bool admissible = false;  // false: nothing admissible is known yet; it only lends its time
};

/// The baseline if it is admissible, else the fastest admissible anchor, else the reference as a mere yardstick.
Result<Comparator> choose_comparator(Lab& lab);

/// What the anchors have cost, for predictions.
Costs costs_so_far(const Lab& lab, int comparator, std::int64_t holdout_size);

}  // namespace fiel
