// What the machine did besides us: the signals that may reject a round of timings. None of them is a latency, so a
// rejection can't favour anybody.
#pragma once

#include <optional>

namespace fiel {

/// Totals since boot over all cores, in seconds (ticks of 10 ms).
struct MachineSample {
  double busy_seconds = 0;   // user + nice + system + irq + softirq, guests included
  double steal_seconds = 0;  // taken by the hypervisor
};

/// /proc/stat; nullopt where there is none.
std::optional<MachineSample> sample_machine();

/// Our own process: user + system seconds so far.
double own_cpu_seconds();

}  // namespace fiel
