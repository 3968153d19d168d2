// What the kernel says of processes (Linux's /proc): who belongs to a group, what it used, whether
// it is stopped. Every answer may be out of date when it is read; a process that is gone is simply
// not in it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fiel {

struct ProcessFacts {
  pid_t pid = 0;
  std::string name = {};  // of the program, its first 15 bytes
  pid_t parent = 0;
  pid_t group = 0;
  char state = '?';        // R running, S sleeping, D uninterruptible, T stopped, Z zombie ...
  double cpu_seconds = 0;  // user + system, all threads; ticks of 10 ms
  double reaped_cpu_seconds = 0;    // the same of its children that ended and that it waited for
  std::int64_t resident_bytes = 0;  // shared pages count fully
};

std::optional<ProcessFacts> read_process(pid_t pid);
/// One pass over /proc: about 20 microseconds a process, so never inside a timed block at a high
/// rate. `proc` is where /proc is.
std::vector<ProcessFacts> read_all_processes(const std::string& proc = "/proc");
/// Members of a process group, zombies included.
std::vector<pid_t> group_members(pid_t group);

/// VmHWM, the most memory that was ever resident; 0 for one that is gone or a zombie.
std::int64_t peak_memory_bytes(pid_t pid);
/// Cheap: two numbers from /proc/<pid>/statm; 0 for one that is gone.
std::int64_t resident_bytes(pid_t pid);
/// Every thread is stopped (or dead).
bool is_stopped(pid_t pid);
/// Its environment at exec holds exactly this "NAME=value"; nullopt for one that is gone, or dying
/// and has none any more.
std::optional<bool> environment_has(pid_t pid, const std::string& assignment);

/// The same of one that begins so; false for one that is gone or has none.
bool environment_has_begin(pid_t pid, const std::string& begin);

/// How the mark begins that every process started by a fiel has in its environment (subprocess.h).
inline constexpr const char* kChildMark = "FIEL_CHILD=";
/// The same of those that `parent` started.
std::string child_mark_of(pid_t parent);

}  // namespace fiel
