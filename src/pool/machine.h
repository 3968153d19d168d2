// What the machine did besides us: the signals that may reject a round of timings. None of them is a latency, so a
// rejection can't favour anybody.
#pragma once

#include <cstdint>
#include <optional>

#include "base/json.h"
#include "pool/machine_files.h"

namespace fiel {

/// Others took more than so many cores' time: what is timed meanwhile is not to be trusted.
inline constexpr double kForeignCores = 0.5;
/// The same of the hypervisor.
inline constexpr double kStolenCores = 0.05;

/// Totals since boot over all cores, in seconds (ticks of 10 ms).
struct MachineSample {
  double busy_seconds = 0;   // user + nice + system + irq + softirq, guests included
  double steal_seconds = 0;  // taken by the hypervisor
  std::optional<std::int64_t> throttle_events;   // cores that slowed down for heat, summed up since boot
  std::optional<double> quota_stopped_seconds;   // our control group's threads were stopped, its CPU quota being used up
  std::optional<double> highest_mhz;             // now, among up to eight cores
};

/// nullopt where /proc/stat can't be read; what else can't be is absent.
std::optional<MachineSample> sample_machine(const MachineRoots& roots = {});

/// As it travels from another machine. kProtocol.
Json to_json(const MachineSample& sample);
Result<MachineSample> read_machine_sample(const Json& json);

/// Our own process: user + system seconds so far.
double own_cpu_seconds();

}  // namespace fiel
