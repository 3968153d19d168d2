// What a program of others that we start can't do, whatever file it was fed: the kernel refuses it, so neither its good
// will nor its bugs matter. Knows nothing of workers.
//
//   files     it reads what we may read, and writes only where it was told to (Landlock)
//   network   no sockets but pairs of its own (seccomp, and Landlock for TCP)
//   others    no signals to, no look into, and no shared memory with processes that it did not start; no new session or
//             group, so that ending its group ends all of it
//   system    no mounts, namespaces, kernel modules, clocks, keys, io_uring; no more rights by set-user-id programs
//
// What a kernel lacks is not enforced, and said (missing_guards). Memory, the number of processes and the time are the
// business of whoever waits for the program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace fiel {

enum class Network { kNone, kOpen };

struct Confinement {
  std::vector<std::filesystem::path> writable = {};  // files, and folders with all below; must be there
  Network network = Network::kNone;
};

struct KernelGuards {
  int landlock = 0;      // the version of its interface; 0: none
  bool seccomp = false;  // filters of system calls, for this machine's architecture
};
KernelGuards kernel_guards();

/// What confinement lacks under such a kernel, each in words: "files: workers may write wherever you may"; empty: nothing.
std::vector<std::string> missing_guards(const KernelGuards& guards);
/// "files, network, signals, system calls": what is enforced.
std::string enforced_guards(const KernelGuards& guards);

/// Made before fork, entered by the child after it.
class Fence {
 public:
  /// A `writable` that is not there: kEnvironment.
  static Result<Fence> create(const Confinement& confinement);

  /// Async-signal-safe; for good, and for all that the caller starts. False: errno says why not.
  bool enter() const noexcept;

 private:
  Fence() = default;
  Fd ruleset_;             // not open: no Landlock here
  bool filters_ = false;   // of system calls
  Network network_ = Network::kNone;
};

namespace detail {
/// confine_calls.cpp: does the kernel take our filter, and: from now on, for this thread and what it starts.
bool can_filter_calls() noexcept;
bool filter_calls(Network network) noexcept;
}  // namespace detail

}  // namespace fiel
