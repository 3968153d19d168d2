#include "pool/group_watch.h"

#include <algorithm>

#include "base/proc.h"
#include "pool/machine_files.h"

namespace fiel {
namespace {

constexpr double kLookSeconds = 0.05;
constexpr double kScanSeconds = 1.0;

}  // namespace

GroupWatch::GroupWatch(pid_t group) : group_(group), members_{group} {}

void GroupWatch::look(double now_seconds) {
  if (now_seconds - last_look_seconds_ < kLookSeconds) return;
  last_look_seconds_ = now_seconds;
  if (now_seconds - last_scan_seconds_ >= kScanSeconds) {
    last_scan_seconds_ = now_seconds;
    members_ = group_members(group_);
  }
  resident_bytes_ = 0;
  for (const pid_t pid : members_) resident_bytes_ += fiel::resident_bytes(pid);
  peak_bytes();
}

std::int64_t GroupWatch::peak_bytes() {
  peak_bytes_ = std::max(peak_bytes_, peak_memory_bytes(group_));
  return peak_bytes_;
}

WorkerUsage GroupWatch::usage() {
  WorkerUsage usage;
  for (const pid_t pid : group_members(group_)) {
    if (const auto facts = read_process(pid))
      usage.cpu_seconds += facts->cpu_seconds + facts->reaped_cpu_seconds;
  }
  usage.peak_memory_bytes = peak_bytes();
  return usage;
}

std::int64_t kernel_memory_kills() {
  const MachineRoots roots;
  std::int64_t kills = number_at(roots.proc / "vmstat", "oom_kill").value_or(0);
  // Our workers live in the same control group.
  const auto groups = control_groups(roots);
  if (!groups.empty()) kills += number_at(groups.front() / "memory.events", "oom_kill").value_or(0);
  return kills;
}

}  // namespace fiel
