// How long does an inference take? The three loops of docs/protocol.md's `measure`, on a steady
// clock. They know an engine's slots and a feed, but neither requests nor statistics.
//
//   latency   from handing an inference to the engine to having its outputs in memory; server: from
//             the moment at which the request was due
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "worker/slot_runner.h"

namespace fiel {

struct LoopLimits {
  std::int64_t warmup_count = 0;
  std::int64_t min_count = 1;  // inferences; one is always made
  double min_seconds = 0;
  double max_seconds = 0;
};

struct LoopReport {
  std::int64_t count = 0;               // inferences; offline: samples, fillers not counted
  double seconds = 0;                   // from the first timed start to the last timed end
  std::vector<double> warmup_seconds;   // with several slots: of each round over all, its slowest
  std::vector<double> latency_seconds;  // one an inference, in the order in which they ended; server:
                                        // in which they were due
  Finished last;                        // of the last timed inference
};

/// One inference after another, in the order of the feed and again from its start.
EngineResult<LoopReport> run_single_stream(Engine& engine, const Feed& feed,
                                           const LoopLimits& limits);

/// Keeps `slot_count` slots of the engine busy, each from a thread of its own: slots that finish
/// early go on at once.
EngineResult<LoopReport> run_offline(Engine& engine, const Feed& feed, const LoopLimits& limits,
                                     int slot_count);

struct ServerLoad {
  std::span<const double> arrivals_seconds;  // when each request is due, from the start; ascending
  int slot_count = 1;
};

/// Open loop: a request waits for nobody to be due, and is begun in its turn by the slot that is
/// free first. Ends when all are done, or at max_seconds with those that were begun; the other
/// limits but the warm-up mean nothing here.
EngineResult<LoopReport> run_server(Engine& engine, const Feed& feed, const LoopLimits& limits,
                                    const ServerLoad& load);

}  // namespace fiel
