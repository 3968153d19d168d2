// What a worker's process group uses: memory against its cap, CPU time, processes, and whether the
// kernel killed for lack of memory. Looks cost some 50 microseconds, so that watching a timed block
// does not show in it; who belongs to the group is looked up once a second only, or when there are
// suddenly many more threads on the machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "pool/worker.h"

namespace fiel {

class GroupWatch {
 public:
  explicit GroupWatch(pid_t group);

  /// Updates the numbers below, unless the last look was under 50 ms ago.
  void look(double now_seconds);
  /// Sum over the group at the last look; shared pages count in each process.
  std::int64_t resident_bytes() const { return resident_bytes_; }
  /// Of the group, as last looked up.
  std::int64_t processes() const { return std::ssize(members_); }
  /// VmHWM of the worker process, now or, once it is gone, as last seen.
  std::int64_t peak_bytes();
  /// CPU time of the group now (members, and what they waited for).
  WorkerUsage usage();

 private:
  pid_t group_;
  std::vector<pid_t> members_;
  double last_look_seconds_ = -1e9;
  double last_scan_seconds_ = -1e9;
  std::int64_t threads_at_scan_ = 0;  // of the whole machine
  std::int64_t resident_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
};

/// Of a worker's group: engines have threads; some call a compiler on each core.
inline constexpr std::int64_t kMaxProcesses = 512;

/// SIGSTOP to the group; returns when all of it is stopped, or after a second.
void stop_group(pid_t group);

/// How often the kernel has killed for lack of memory: on this machine and in our control group. A
/// change over a worker's life says who sent its SIGKILL. 0 where the kernel does not tell.
std::int64_t kernel_memory_kills();

/// So much that the machine, or our control group, has hardly any left for others: nine tenths. nullopt where the kernel
/// does not tell.
std::optional<std::int64_t> memory_of_nearly_all();

}  // namespace fiel
