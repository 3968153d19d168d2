// What does a tuning cache of trtexec's Global Performance Tuner say, and what does it not? JSON lines as TensorRT 11.1's public
// source writes them: one about the run, then one for each iteration. Reads; judges nothing but what the file itself shows.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "decide/standing.h"

namespace fiel {

struct TrtexecIteration {
  std::int64_t number = 0;  // as the file counts: phases of a mixed search begin anew
  std::string build_route;
  std::map<std::string, std::string> settings;  // those that differ from the default route
  bool crashed = false;
  std::string message;
  std::map<std::string, std::optional<double>> losses;  // by output; nothing: the file has null, which is how NaN and infinity are written
  std::optional<double> gpu_seconds;                    // the mean of one process, its warm-up included
};

struct TrtexecCache {
  std::string tuner_version, search, metric, command_line, model;
  std::map<std::string, std::string> default_settings;
  std::optional<double> threshold;  // of the loss; nothing: none was set
  int reference_pairs = 0;          // 0: no answers were compared with anything
  std::vector<TrtexecIteration> iterations;
  bool torn = false;  // the last line is cut off, as of a run that was killed
};

Result<TrtexecCache> read_trtexec_cache(const std::filesystem::path& file);

/// What our gate can say of an iteration by this file alone: it failed, or was wrong, or can't be judged, and why.
struct TrtexecOutcome {
  CandidateStatus status = CandidateStatus::kUndecided;
  std::string reason;
};
TrtexecOutcome outcome_of(const TrtexecCache& cache, const TrtexecIteration& iteration);

}  // namespace fiel
