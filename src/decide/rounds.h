// The one way in which fiel compares speed: rounds of blocks over live processes, in fresh random order, with only one
// process awake at a time (methodology A4).
//
//   block    after a warm-up, at least 100 ms and 5 inferences (server: 50 requests, from an empty queue); its cost is the
//            contract's objective in seconds
//   round    one block of each contender
//   session  three rounds or more in one set of processes; its value is the median over rounds of
//            ln(cost of the one / cost of the other): the unit of evidence
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decide/lab.h"

namespace fiel {

struct Contender {
  Live* live = nullptr;
  std::string name;  // in the record: "comparator", "candidate 12"
};

struct RoundsPlan {
  int rounds = 3;
  int spare_rounds = 2;  // may replace rejected ones
  std::uint64_t seed = 0;
  std::vector<int> samples;  // of the tuning set: the timed inputs, in the traffic's mix
  std::int64_t warmup_count = 2;
  std::int64_t min_count = 5;
  double min_seconds = 0.1;
  double max_seconds = 10;
  double arrivals_per_second = 0;  // server: then min_count requests are one block, and how long it takes follows
};

/// The plan for the contract's objective, seeded by the step's name; timed samples are drawn afresh by that seed.
RoundsPlan rounds_plan(const Lab& lab, const std::string& step);

struct ContenderTimes {
  std::vector<std::optional<double>> costs_seconds;  // by round; nullopt: rejected round
  std::vector<std::optional<double>> all_costs_seconds;  // rejected rounds too
  std::vector<double> latencies_seconds;             // of accepted rounds, in order (offline: one a batch)
  std::int64_t count = 0;                            // inferences (offline: samples) of accepted rounds
  double seconds = 0;                                // wall time of accepted rounds
  std::vector<SampleOutputs> outputs;                // of the last timed inference of each round
  std::optional<Failure> failure;
  int overloaded_blocks = 0;  // server, of accepted rounds
  std::string why_overloaded;
  std::vector<double> device_p50_seconds;            // of accepted rounds' blocks, where the worker tells
  std::int64_t device_memory_bytes = 0;              // the most of them; 0: not told

  /// One block may be the victim of a stall; two in a session are not.
  bool overloaded() const { return overloaded_blocks >= 2; }
};

struct RoundsResult {
  std::vector<ContenderTimes> times;  // as the contenders came
  int rejected_rounds = 0;
  Json json;                          // order, costs and machine signals of every round
};

/// Times live, loaded processes. They come back paused. kCancelled is the only error.
Result<RoundsResult> time_rounds(Lab& lab, std::span<const Contender> contenders, const RoundsPlan& plan);

/// Median over accepted rounds of ln(cost of `base` / cost of `other`): above 0, `other` is faster.
std::optional<double> session_log_ratio(const RoundsResult& rounds, std::size_t base, std::size_t other);

/// The same over all rounds, rejected ones too: good enough to order a queue, never for a claim.
std::optional<double> rough_log_ratio(const RoundsResult& rounds, std::size_t base, std::size_t other);

/// Tails are bounded at this confidence, by order statistics.
inline constexpr double kTailConfidence = 0.99;
/// Mean and percentiles of latencies in seconds (at least one); tails only where there are enough timings for them.
Json latency_summary(std::vector<double> latencies, double per_second);
Json latency_json(Scenario scenario, const ContenderTimes& times);
/// What an accelerator said of itself: "p50_seconds" (the median block's) and "memory_bytes"; null where it said nothing.
Json accelerator_json(const ContenderTimes& times);
Series rounds_series(std::span<const Contender> contenders, const RoundsResult& rounds);

}  // namespace fiel
