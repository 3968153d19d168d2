#include "decide/signals.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace fiel {
namespace {

// Ticks are 10 ms, so shorter rounds can't be judged by CPU times and are kept.
constexpr double kShortestJudgedSeconds = 0.1;
// More than one tick, since a single one may stand for a microsecond.
constexpr double kSeenSeconds = 0.015;

// Nothing where either look does not have it.
template <class T>
std::optional<T> difference(const std::optional<T>& after, const std::optional<T>& before) {
  if (!after || !before) return std::nullopt;
  return *after - *before;
}

}  // namespace

std::string Signals::why_reject() const {
  if (paused_seconds > kSeenSeconds) return "a paused process ran";
  if (throttle_events.value_or(0) > 0) return "the CPU was throttled for heat";
  if (wall_seconds < kShortestJudgedSeconds) return "";
  if (foreign_seconds > kForeignCores * wall_seconds) return "other programs were busy";
  if (steal_seconds > std::max(kSeenSeconds, kStolenCores * wall_seconds)) return "the hypervisor took CPU time";
  return "";
}

void Signals::add(const Signals& block) {
  wall_seconds += block.wall_seconds;
  foreign_seconds += block.foreign_seconds;
  steal_seconds += block.steal_seconds;
}

Json Signals::json() const {
  Json json = {{"wall_seconds", wall_seconds}, {"foreign_cpu_seconds", foreign_seconds}, {"steal_seconds", steal_seconds}};
  if (throttle_events) json["throttle_events"] = *throttle_events;
  if (quota_stopped_seconds) json["quota_stopped_seconds"] = *quota_stopped_seconds;
  if (highest_mhz) json["highest_mhz"] = *highest_mhz;
  return json;
}

Watch::Watch(Lab& lab, std::vector<Worker*> workers) : lab_(lab), workers_(std::move(workers)) {
  start_ = lab_.recorder.live_seconds();
  times_ = lab_.pool.machine_times();
  for (Worker* worker : workers_) before_.push_back(worker->usage().cpu_seconds);
}

Signals Watch::stop(std::size_t awake) const {
  Signals signals;
  signals.wall_seconds = lab_.recorder.live_seconds() - start_;
  const MachineTimes times = lab_.pool.machine_times();
  if (times.now_seconds && times_.now_seconds) signals.wall_seconds = *times.now_seconds - *times_.now_seconds;
  double ours = times.own_cpu_seconds - times_.own_cpu_seconds;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const double used = workers_[i]->usage().cpu_seconds - before_[i];
    ours += used;
    if (i != awake) signals.paused_seconds += used;
  }
  if (const auto &now = times.machine, &before = times_.machine; now && before) {
    signals.foreign_seconds = std::max(0.0, now->busy_seconds - before->busy_seconds - ours);
    signals.steal_seconds = now->steal_seconds - before->steal_seconds;
    signals.throttle_events = difference(now->throttle_events, before->throttle_events);
    signals.quota_stopped_seconds = difference(now->quota_stopped_seconds, before->quota_stopped_seconds);
    signals.highest_mhz = now->highest_mhz;
  }
  return signals;
}

}  // namespace fiel
