#include "pool/machine.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>

namespace fiel {

std::optional<MachineSample> sample_machine() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  std::array<double, 8> ticks{};  // user nice system idle iowait irq softirq steal
  if (!(file >> cpu) || cpu != "cpu") return std::nullopt;
  for (double& value : ticks) {
    if (!(file >> value)) return std::nullopt;
  }
  const double per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  return MachineSample{.busy_seconds = (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / per_second,
                       .steal_seconds = ticks[7] / per_second};
}

double own_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace fiel
