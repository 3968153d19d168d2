// An engine that times its own inferences, since each of them runs in a program of its own whose start nobody wants in a
// latency. All others are timed by timed_loop.h. Knows nothing of requests or files.
#pragma once

#include <map>
#include <string>

#include "worker/timed_loop.h"

namespace fiel {

struct SelfTimedBlock {
  LoopReport report;
  std::map<std::string, double> told;  // further keys of measure's answer, which are the engine's own matter
};

class SelfTimed {
 public:
  virtual ~SelfTimed() = default;
  /// As measure of docs/protocol.md has it, `scenario` among those that load() took.
  virtual EngineResult<SelfTimedBlock> time_block(const Feed& feed, const std::string& scenario,
                                                  const LoopLimits& limits) = 0;
};

}  // namespace fiel
