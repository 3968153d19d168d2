#include "base/strays.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "base/files.h"
#include "base/proc.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

bool is_marked(pid_t pid) {
  const std::string environment = read_text(fmt::format("/proc/{}/environ", pid)).value_or("");
  return environment.starts_with("FIEL_CHILD=") || environment.find(std::string("\0FIEL_CHILD=", 12)) != std::string::npos;
}

}  // namespace

int end_strays(const fs::path& folder) {
  std::error_code code;
  const std::string below = fs::weakly_canonical(folder, code).string() + "/";
  int count = 0;
  for (const ProcessFacts& facts : read_all_processes()) {
    if (facts.pid == ::getpid()) continue;
    // Of one whose folder is gone already it says ".../w7 (deleted)".
    const std::string place = fs::read_symlink(fmt::format("/proc/{}/cwd", facts.pid), code).string() + "/";
    if (code || !place.starts_with(below) || !is_marked(facts.pid)) continue;
    ::kill(facts.pid, SIGKILL);
    ++count;
  }
  return count;
}

}  // namespace fiel
