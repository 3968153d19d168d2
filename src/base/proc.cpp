#include "base/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>

#include "base/files.h"

namespace fiel {
namespace {

// Small files of /proc; empty when the process is gone. Not read_text: errors are normal here and
// need no words.
std::string slurp(const std::string& path) {
  const Fd descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.is_open()) return {};
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(descriptor.get(), buffer, sizeof buffer);
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

// Calls `visit` with each entry of `folder` whose name is a number.
void each_number(const std::string& folder, const std::function<void(pid_t)>& visit) {
  const auto close = [](DIR* dir) { ::closedir(dir); };
  const std::unique_ptr<DIR, decltype(close)> dir(::opendir(folder.c_str()), close);
  if (!dir) return;
  while (const dirent* entry = ::readdir(dir.get())) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    visit(static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10)));
  }
}

// The fields of a stat line from the third on; the second, a name in parentheses, may hold
// anything.
std::optional<ProcessFacts> parse_stat(pid_t pid, const std::string& text) {
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  ProcessFacts facts;
  facts.pid = pid;
  const std::size_t name_start = text.find('(');
  if (name_start < name_end) facts.name = text.substr(name_start + 1, name_end - name_start - 1);
  unsigned long user = 0, system = 0;
  long reaped_user = 0, reaped_system = 0, pages = 0;
  const int got =
      std::sscanf(text.c_str() + name_end + 1,
                  " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld %*d %*d %*d "
                  "%*d %*u %*u %ld",
                  &facts.state, &facts.parent, &facts.group, &user, &system, &reaped_user,
                  &reaped_system, &pages);
  if (got != 8) return std::nullopt;
  const double tick = static_cast<double>(::sysconf(_SC_CLK_TCK));
  facts.cpu_seconds = static_cast<double>(user + system) / tick;
  facts.reaped_cpu_seconds = static_cast<double>(reaped_user + reaped_system) / tick;
  facts.resident_bytes = static_cast<std::int64_t>(pages) * ::sysconf(_SC_PAGESIZE);
  return facts;
}

}  // namespace

std::optional<ProcessFacts> read_process(pid_t pid) {
  return parse_stat(pid, slurp(fmt::format("/proc/{}/stat", pid)));
}

std::vector<ProcessFacts> read_all_processes(const std::string& proc) {
  std::vector<ProcessFacts> all;
  each_number(proc, [&](pid_t pid) {
    if (auto facts = parse_stat(pid, slurp(fmt::format("{}/{}/stat", proc, pid)))) all.push_back(*std::move(facts));
  });
  return all;
}

std::vector<pid_t> group_members(pid_t group) {
  std::vector<pid_t> members;
  each_number("/proc", [&](pid_t pid) {
    if (::getpgid(pid) == group)
      members.push_back(pid);  // one call instead of a file: most are not ours
  });
  return members;
}

std::int64_t peak_memory_bytes(pid_t pid) {
  const std::string text = slurp(fmt::format("/proc/{}/status", pid));
  const std::size_t at = text.find("VmHWM:");
  if (at == std::string::npos) return 0;
  return std::strtoll(text.c_str() + at + 6, nullptr, 10) * 1024;
}

std::int64_t resident_bytes(pid_t pid) {
  const std::string text = slurp(fmt::format("/proc/{}/statm", pid));
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) return 0;
  return std::strtoll(text.c_str() + space, nullptr, 10) * ::sysconf(_SC_PAGESIZE);
}

bool is_stopped(pid_t pid) {
  bool all = true;
  const std::string folder = fmt::format("/proc/{}/task", pid);
  each_number(folder, [&](pid_t thread) {
    const auto facts = parse_stat(thread, slurp(fmt::format("{}/{}/stat", folder, thread)));
    if (facts && std::strchr("TtZX", facts->state) == nullptr) all = false;
  });
  return all;
}

namespace {

std::string environment_of(pid_t pid) { return '\0' + slurp(fmt::format("/proc/{}/environ", pid)); }

}  // namespace

bool environment_has_begin(pid_t pid, const std::string& begin) { return environment_of(pid).find('\0' + begin) != std::string::npos; }

std::string child_mark_of(pid_t parent) { return fmt::format("{}{:08x}", kChildMark, static_cast<unsigned>(parent)); }

std::optional<bool> environment_has(pid_t pid, const std::string& assignment) {
  const std::string text = environment_of(pid);
  if (text.size() == 1) return std::nullopt;
  return text.find('\0' + assignment + '\0') != std::string::npos;
}

}  // namespace fiel
