#include "pool/group_watch.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "base/clock.h"
#include "base/proc.h"
#include "pool/machine_files.h"

namespace fiel {
namespace {

constexpr double kLookSeconds = 0.05;
constexpr double kScanSeconds = 1.0;
constexpr std::int64_t kSuddenThreads = 128;
constexpr double kPauseSeconds = 1.0;

// The machine's threads: "0.20 0.18 0.12 1/80 11206" has 80 of them.
std::int64_t threads_of_machine() {
  const std::string text = read_small("/proc/loadavg").value_or("");
  const std::size_t slash = text.find('/');
  return slash == std::string::npos ? 0 : std::atoll(text.c_str() + slash + 1);
}

}  // namespace

GroupWatch::GroupWatch(pid_t group) : group_(group), members_{group} {}

void GroupWatch::look(double now_seconds) {
  if (now_seconds - last_look_seconds_ < kLookSeconds) return;
  last_look_seconds_ = now_seconds;
  const std::int64_t threads = threads_of_machine();
  if (now_seconds - last_scan_seconds_ >= kScanSeconds || threads - threads_at_scan_ > kSuddenThreads) {
    last_scan_seconds_ = now_seconds;
    threads_at_scan_ = threads;
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

void stop_group(pid_t group) {
  ::kill(-group, SIGSTOP);
  const double deadline = steady_seconds() + kPauseSeconds;
  while (steady_seconds() < deadline) {
    const std::vector<pid_t> members = group_members(group);
    if (std::all_of(members.begin(), members.end(), is_stopped)) return;
    ::poll(nullptr, 0, 1);
  }
}

std::int64_t kernel_memory_kills() {
  const MachineRoots roots;
  std::int64_t kills = number_at(roots.proc / "vmstat", "oom_kill").value_or(0);
  // Our workers live in the same control group.
  const auto groups = control_groups(roots);
  if (!groups.empty()) kills += number_at(groups.front() / "memory.events", "oom_kill").value_or(0);
  return kills;
}

std::optional<std::int64_t> memory_of_nearly_all() {
  const MachineRoots roots;
  const auto kib = number_at(roots.proc / "meminfo", "MemTotal");
  if (!kib) return std::nullopt;
  std::int64_t least = *kib * 1024;
  for (const auto& group : control_groups(roots)) {
    least = std::min(least, read_number(group / "memory.max").value_or(least));  // "max" is no number
  }
  return least / 10 * 9;
}

}  // namespace fiel
