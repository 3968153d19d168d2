// What won the last time, as one more start of the search, never as a claim: it is built, judged and timed like any other route.
// It is taken only where what it was proven with is what is here: model, engine version, CPU features, knobs, machine, cores.
//
// Read once when a run starts and kept in its first event, so that `resume` walks the same way whatever became of the old folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/json.h"
#include "decide/lab.h"

namespace fiel {

/// The winner of the run in `folder` and what it was proven with; null where that run has none. An error where it can't be read.
Result<Json> winner_of_run(const std::filesystem::path& folder);

/// The route to start from, where `kept` (the JSON of the above; empty: none) fits and `space` has it. Why not, is told and recorded.
Result<std::optional<BuildRoute>> last_winner(Lab& lab, const std::string& kept, const Space& space);

}  // namespace fiel
