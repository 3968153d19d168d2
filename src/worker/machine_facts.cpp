#include "worker/machine_facts.h"

#include <gnu/libc-version.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

namespace fiel {
namespace {

std::string read_small(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

bool matters(std::string_view flag) {
  constexpr std::string_view kStarts[] = {"avx", "amx", "sse4", "asimd", "sve", "i8mm", "bf16"};
  constexpr std::string_view kWhole[] = {"fma", "f16c", "fp16"};
  return std::ranges::any_of(kStarts,
                             [&](std::string_view start) { return flag.starts_with(start); }) ||
         std::ranges::find(kWhole, flag) != std::end(kWhole);
}

bool several_sockets() {
  std::set<std::string> packages;
  for (int cpu = 0;; ++cpu) {
    const std::string id = read_small("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                                      "/topology/physical_package_id");
    if (id.empty()) return packages.size() > 1;
    packages.insert(id);
  }
}

// GLIBC_TUNABLES=glibc.malloc.hugetlb came with 2.35.
bool glibc_has_hugetlb() {
  const std::string_view version = gnu_get_libc_version();
  int minor = 0;
  const std::size_t dot = version.find('.');
  if (dot == std::string_view::npos) return false;
  std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
  return version.starts_with("2.") && minor >= 35;
}

int usable_cores() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return std::max(1, CPU_COUNT(&cores));
}

}  // namespace

bool MachineFacts::holds(std::string_view need) const {
  while (true) {
    const std::size_t bar = need.find('|');
    if (facts.contains(std::string(need.substr(0, bar)))) return true;
    if (bar == std::string_view::npos) return false;
    need.remove_prefix(bar + 1);
  }
}

std::vector<std::string> parse_cpu_features(std::string_view cpuinfo) {
  std::set<std::string> found;
  std::istringstream lines{std::string(cpuinfo)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string flag; words >> flag;) {
      if (matters(flag)) found.insert(flag);
    }
    break;  // the other cores say the same
  }
  return {found.begin(), found.end()};
}

MachineFacts read_machine_facts() {
  MachineFacts machine{.cpu_features = parse_cpu_features(read_small("/proc/cpuinfo")),
                       .core_count = usable_cores(),
                       .facts = {}};
  machine.facts.insert(machine.cpu_features.begin(), machine.cpu_features.end());
  if (read_small("/sys/devices/system/cpu/smt/active").starts_with("1"))
    machine.facts.insert("smt");
  if (std::ifstream("/sys/devices/cpu_atom/cpus")) machine.facts.insert("hybrid");
  if (several_sockets()) machine.facts.insert("sockets");
  if (read_small("/sys/kernel/mm/transparent_hugepage/enabled").find("[madvise]") !=
      std::string::npos) {
    machine.facts.insert("thp_madvise");
  }
  if (glibc_has_hugetlb()) machine.facts.insert("glibc_hugetlb");
  return machine;
}

}  // namespace fiel
