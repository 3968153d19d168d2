// A run folder: made, locked, opened again, and walked through the pipeline. Everything that a run needs from the world is
// gathered here, checked before any work starts, and frozen.
//
//   contract.toml  run.db  artifacts/  reference/  logs/  scratch/ (gone when nothing runs)  data/ (packs)
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "contract/contract.h"
#include "decide/progress.h"
#include "decide/verdict.h"

namespace fiel {

struct TuneOptions {
  std::filesystem::path folder;
  std::string strategy = "auto";
  std::string routes;
  std::uint64_t seed = 1;
  std::optional<double> wall_seconds;        // over the contract's
  std::optional<std::int64_t> candidates;    // over the contract's
  std::filesystem::path start_from = {};     // a run whose winner is tried first
  std::vector<std::filesystem::path> earlier_runs = {};  // without start_from: the first of these that has a winner, if any
  std::vector<std::string> launcher = {};    // over the contract's
  std::optional<int> workers = {};           // the same
};

/// A new run. The folder must not hold a run yet.
Result<Verdict> start_run(Contract contract, const TuneOptions& options, ProgressSink& progress, int cancel_fd);

/// Goes on with a run, or, when it has a verdict, says it again. `launcher`: over the one that it began with.
Result<Verdict> resume_run(const std::filesystem::path& folder, const std::vector<std::string>& launcher, ProgressSink& progress,
                           int cancel_fd);

/// What can be said before any work: sizes, what is decidable, the space.
Result<std::string> describe_plan(Contract contract, const TuneOptions& options, int cancel_fd);

}  // namespace fiel
