#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "pool/machine_facts.h"

namespace fiel {
namespace {

constexpr std::int64_t kTight = std::int64_t{1} << 30;
constexpr std::int64_t kScarce = std::int64_t{256} << 20;

std::optional<std::int64_t> meminfo_bytes(const MachineRoots& roots, std::string_view key) {
  const auto kib = number_at(roots.proc / "meminfo", key);
  return kib ? std::optional(*kib * 1024) : std::nullopt;
}

Mark mark_of_room(std::int64_t bytes) {
  return bytes < kScarce ? Mark::kBad : bytes < kTight ? Mark::kCouldBeBetter : Mark::kOk;
}

MachineFact free_fact(const MachineRoots& roots) {
  MachineFact fact = unreadable("memory", "memory available");
  const auto available = meminfo_bytes(roots, "MemAvailable"), all = meminfo_bytes(roots, "MemTotal");
  if (!available || !all) return fact;
  fact.value = fmt::format("{} of {}", format_bytes(*available), format_bytes(*all));
  fact.mark = mark_of_room(*available);
  if (fact.mark != Mark::kOk) fact.advice = "two processes of the model live at a time while it is timed: end other programs";
  return fact;
}

MachineFact limit_fact(const MachineRoots& roots) {
  MachineFact fact = unreadable("memory_limit", "memory limit (cgroup)");
  const auto groups = control_groups(roots);
  if (groups.empty()) return fact;
  fact.value = "none";
  fact.mark = Mark::kOk;
  std::optional<std::int64_t> room;
  for (const auto& group : groups) {
    const auto limit = read_number(group / "memory.max");  // "max" is no number
    if (!limit) continue;
    const std::int64_t left = *limit - read_number(group / "memory.current").value_or(0);
    if (room && left >= *room) continue;
    room = left;
    fact.value = fmt::format("{}, {} left", format_bytes(*limit), format_bytes(std::max<std::int64_t>(0, left)));
  }
  if (room) fact.mark = mark_of_room(*room);
  if (fact.mark != Mark::kOk) fact.advice = "workers beyond the limit are killed: raise it, or end what else runs in this group";
  return fact;
}

MachineFact swap_fact(const MachineRoots& roots, const LookPair& looks) {
  MachineFact fact = unreadable("swap", "swap used");
  const auto all = meminfo_bytes(roots, "SwapTotal"), left = meminfo_bytes(roots, "SwapFree");
  if (!all || !left) return fact;
  fact.mark = Mark::kOk;
  fact.value = *all == 0 ? "none there" : fmt::format("{} of {}", format_bytes(*all - *left), format_bytes(*all));
  const auto before = looks.before.swapped_pages, after = looks.after.swapped_pages;
  if (before && after && *after > *before) {
    fact.value += fmt::format(", {} pages moved just now", *after - *before);
    fact.mark = Mark::kBad;
    fact.advice = "the machine is short of memory and times its disk: end other programs";
  }
  return fact;
}

MachineFact huge_pages_fact(const MachineRoots& roots) {
  MachineFact fact = unreadable("huge_pages", "transparent huge pages");
  const auto text = read_small(roots.sys / "kernel/mm/transparent_hugepage/enabled");
  if (!text) return fact;
  const std::size_t open = text->find('['), close = text->find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return fact;
  fact.value = text->substr(open + 1, close - open - 1);
  fact.mark = fact.value == "never" ? Mark::kCouldBeBetter : Mark::kOk;
  if (fact.value == "never") {
    fact.advice = "large weights may run faster with them: "
                  "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled";
  }
  return fact;
}

}  // namespace

std::vector<MachineFact> memory_facts(const MachineRoots& roots, const LookPair& looks) {
  return {free_fact(roots), limit_fact(roots), swap_fact(roots, looks), huge_pages_fact(roots)};
}

}  // namespace fiel
