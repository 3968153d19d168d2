#include "base/strays.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "base/proc.h"

namespace fiel {

namespace fs = std::filesystem;

int end_strays(const fs::path& folder) {
  std::error_code code;
  const std::string below = fs::weakly_canonical(folder, code).string() + "/";
  int count = 0;
  for (const ProcessFacts& facts : read_all_processes()) {
    if (facts.pid == ::getpid()) continue;
    // Of one whose folder is gone already it says ".../w7 (deleted)".
    const std::string place = fs::read_symlink(fmt::format("/proc/{}/cwd", facts.pid), code).string() + "/";
    if (code || !place.starts_with(below) || !environment_has_begin(facts.pid, kChildMark)) continue;
    ::kill(facts.pid, SIGKILL);
    ++count;
  }
  return count;
}

}  // namespace fiel
