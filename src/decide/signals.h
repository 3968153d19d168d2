// What the machine did while a block was timed, split by who did it, and whether the round must go for it. Knows no
// latency, so a rejection is blind to who gains by it (methodology A4).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decide/lab.h"
#include "pool/machine.h"

namespace fiel {

struct Signals {
  double wall_seconds = 0, foreign_seconds = 0, steal_seconds = 0, paused_seconds = 0;
  std::optional<std::int64_t> throttle_events;    // cores slowed down by heat; absent where the kernel does not say
  std::optional<double> quota_stopped_seconds;    // recorded only: it is the candidate's own use that uses a quota up
  std::optional<double> highest_mhz;              // recorded only: wide instructions run at lower frequencies by right

  /// Empty: keep the round.
  std::string why_reject() const;
  /// CPU times that blocks are too short to show add up over a round.
  void add(const Signals& block);
  Json json() const;
};

/// CPU time that passes between two looks while only one of the workers is awake.
class Watch {
 public:
  Watch(Lab& lab, std::vector<Worker*> workers);
  Signals stop(std::size_t awake) const;

 private:
  Lab& lab_;
  std::vector<Worker*> workers_;
  double start_ = 0;
  MachineTimes times_;
  std::vector<double> before_;
};

}  // namespace fiel
