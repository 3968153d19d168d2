#include "pool/machine.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace fiel {
namespace {

// Old kernels wait 10 ms for each core that is asked for its frequency.
constexpr std::size_t kMaxCoresAsked = 8;

std::optional<std::int64_t> throttle_events(const std::vector<std::filesystem::path>& cores) {
  std::optional<std::int64_t> sum;
  for (const auto& core : cores) {
    const auto events = read_number(core / "thermal_throttle/core_throttle_count");
    if (events) sum = sum.value_or(0) + *events;
  }
  return sum;
}

std::optional<double> highest_mhz(const std::vector<std::filesystem::path>& cores) {
  std::optional<double> highest;
  const std::size_t step = (cores.size() + kMaxCoresAsked - 1) / kMaxCoresAsked;
  for (std::size_t i = 0; i < cores.size(); i += step) {
    const auto khz = read_number(cores[i] / "cpufreq/scaling_cur_freq");
    if (khz) highest = std::max(highest.value_or(0), static_cast<double>(*khz) / 1000);
  }
  return highest;
}

std::optional<double> quota_stopped_seconds(const MachineRoots& roots) {
  std::optional<double> sum;  // a group above ours may have the quota
  for (const auto& group : control_groups(roots)) {
    const auto microseconds = number_at(group / "cpu.stat", "throttled_usec");
    if (microseconds) sum = sum.value_or(0) + static_cast<double>(*microseconds) * 1e-6;
  }
  return sum;
}

}  // namespace

std::optional<MachineSample> sample_machine(const MachineRoots& roots) {
  std::ifstream file(roots.proc / "stat");
  std::string cpu;
  std::array<double, 8> ticks{};  // user nice system idle iowait irq softirq steal
  if (!(file >> cpu) || cpu != "cpu") return std::nullopt;
  for (double& value : ticks) {
    if (!(file >> value)) return std::nullopt;
  }
  const double per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto cores = cpu_folders(roots);
  return MachineSample{.busy_seconds = (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / per_second,
                       .steal_seconds = ticks[7] / per_second,
                       .throttle_events = throttle_events(cores),
                       .quota_stopped_seconds = quota_stopped_seconds(roots),
                       .highest_mhz = highest_mhz(cores)};
}

Json to_json(const MachineSample& sample) {
  Json json = {{"busy_seconds", sample.busy_seconds}, {"steal_seconds", sample.steal_seconds}};
  if (sample.throttle_events) json["throttle_events"] = *sample.throttle_events;
  if (sample.quota_stopped_seconds) json["quota_stopped_seconds"] = *sample.quota_stopped_seconds;
  if (sample.highest_mhz) json["highest_mhz"] = *sample.highest_mhz;
  return json;
}

Result<MachineSample> read_machine_sample(const Json& json) {
  MachineSample sample;
  sample.busy_seconds = FIEL_TRY(get_number(json, "busy_seconds"));
  sample.steal_seconds = FIEL_TRY(get_number(json, "steal_seconds"));
  if (json.contains("throttle_events")) sample.throttle_events = FIEL_TRY(get_int(json, "throttle_events"));
  if (json.contains("quota_stopped_seconds")) sample.quota_stopped_seconds = FIEL_TRY(get_number(json, "quota_stopped_seconds"));
  if (json.contains("highest_mhz")) sample.highest_mhz = FIEL_TRY(get_number(json, "highest_mhz"));
  return sample;
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
