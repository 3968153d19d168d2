// A strategy on a recording, many times: mean score and regret with intervals, as data, as a table and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "replay/simulate.h"

namespace fiel {

struct ReplayOptions {
  SimulationOptions each;  // its seed is the master seed of all repeats
  int repeats = 100;
  std::optional<StartAt> start = {};  // else the recording's default where it has one
};

/// Mean over repeats, 95 % interval of it by Student's t.
struct MeanInterval {
  double mean, low, high;
};

struct RegretAt {
  std::int64_t evaluations;  // fewer where the space is smaller
  MeanInterval relative;     // best / optimum - 1
  double p95;
};

struct ReplaySummary {
  std::string space, strategy;
  std::int64_t configurations, admissible, repeated;
  double optimum, median, seconds_per_draw, start_seconds, end_seconds;
  int repeats;
  MeanInterval score;
  std::vector<double> scores;  // of each repeat
  std::vector<RegretAt> regrets;
  double failures_per_repeat;
  double proposal_ms;  // mean real time per evaluation
};

Result<ReplaySummary> replay(const Recording& recording, const ReplayOptions& options);

std::string replay_text(const ReplaySummary& summary);
Json replay_json(const ReplaySummary& summary);
/// The recorded space itself, for programs that bring a search of their own: knobs, values, and per configuration value,
/// seconds and outcome.
Json recording_json(const Recording& recording);

}  // namespace fiel
