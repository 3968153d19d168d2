// The scripted engine's clock: latencies that are computed, not waited for, and the same for the
// same seeds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "worker/engine_fake_script.h"

namespace fiel::fake {

struct BlockOrder {
  std::uint64_t seed = 0;
  std::int64_t batch = 1;
  std::int64_t parallel = 1;  // offline: batches at a time
  std::int64_t warmup_count = 0;
  std::int64_t min_count = 1;
  double min_seconds = 0;
  double max_seconds = 0;
  std::vector<double> arrivals_seconds = {};  // server: when each request is due; then no minimum counts
};

struct Block {
  std::vector<double> warmup_seconds;
  std::vector<double> latencies_seconds;  // one an inference (of a whole batch); server: from when it was due
  double seconds = 0;                     // from the first start to the last end
};

/// Lives as long as the process does: the process's own offset, its blocks so far.
class LatencyModel {
 public:
  /// `settings` complete, defaults included; `process` is the how manieth of this route.
  LatencyModel(const Script& script, Settings settings, std::int64_t process = 0);

  /// The latency without noise.
  double typical_seconds(std::int64_t batch) const;
  Block measure(const BlockOrder& order);

 private:
  const Script& script_;
  Settings settings_;
  std::string key_;
  std::optional<double> process_offset_;  // drawn from the seed of its first block, so that a
                                          // repeated run has it again
  std::int64_t blocks_ = 0;
  std::int64_t inferences_ = 0;
};

}  // namespace fiel::fake
