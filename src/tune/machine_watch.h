// What the machine says of itself, over a short while in which something else may be done (a run reads its data).
#pragma once

#include <vector>

#include "base/clock.h"
#include "decide/progress.h"
#include "pool/machine_check.h"

namespace fiel {

class MachineWatch {
 public:
  MachineWatch();
  /// Waits until `least_seconds` have passed since the start; kCancelled.
  Result<std::vector<MachineFact>> facts(double least_seconds, int cancel_fd) const;

 private:
  mutable RealClock clock_;
  double started_at_ = 0;
  MachineLook before_;
};

/// One note for each bad mark, one line for all that could be better.
void tell_about(const std::vector<MachineFact>& facts, ProgressSink& progress);

}  // namespace fiel
