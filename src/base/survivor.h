// What ends our children's children when we are killed: SIGKILL leaves us no time to do it, and the kernel ends with us only
// what we started ourselves.
//
// A small process in a session of its own, which no Ctrl-C or closed terminal reaches. It listens to a pipe of which we hold
// the other end: there it is told of each group that we start and end, and of each temporary folder. When the pipe closes, we
// were killed: it kills the groups that are left, and what left its group but has our mark in its environment (subprocess.h),
// removes the folders, and ends. Where it was killed too, `resume` ends what is left (strays.h).
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "base/files.h"
#include "base/result.h"

namespace fiel {

class Survivor {
 public:
  /// Forks: early, while there is little memory to share. One at a time.
  static Result<Survivor> start();

  Survivor(Survivor&& other) noexcept;
  Survivor& operator=(Survivor&&) = delete;
  ~Survivor();  // all is ended by then: so is it

  pid_t pid() const { return pid_; }

 private:
  Survivor(Fd pipe, pid_t pid) : pipe_(std::move(pipe)), pid_(pid) {}
  Fd pipe_;
  pid_t pid_ = 0;
};

enum class Fate { kBegan, kEnded };
/// What the survivor, if there is one, has to know.
void tell_survivor(Fate fate, pid_t group) noexcept;
/// The same of a temporary folder, absolute; one with a very long name is not looked after.
void tell_survivor(Fate fate, const std::filesystem::path& folder) noexcept;

}  // namespace fiel
