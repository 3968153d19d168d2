#include "pool/group_watch.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/files.h"
#include "base/proc.h"

namespace fiel {
namespace {

constexpr double kLookSeconds = 0.05;
constexpr double kScanSeconds = 1.0;

// The number after "<key> " in a file of "key number" lines.
std::int64_t counter(const std::string& path, const std::string& key) {
  const std::string text = "\n" + read_text(path).value_or("");
  const std::size_t at = text.find("\n" + key + " ");
  return at == std::string::npos ? 0
                                 : std::strtoll(text.c_str() + at + key.size() + 2, nullptr, 10);
}

// Where version 2 of the control groups keeps ours; our workers live in the same one.
std::string control_group_folder() {
  const std::string text = "\n" + read_text("/proc/self/cgroup").value_or("");
  const std::size_t at = text.find("\n0::");
  if (at == std::string::npos) return {};
  return "/sys/fs/cgroup" + text.substr(at + 4, text.find('\n', at + 4) - at - 4);
}

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
  return counter("/proc/vmstat", "oom_kill") +
         counter(control_group_folder() + "/memory.events", "oom_kill");
}

}  // namespace fiel
