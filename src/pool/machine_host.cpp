#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "pool/machine_facts.h"

namespace fiel {
namespace {

// Read by a system call each time, which costs about a microsecond; the others are read by the process itself.
constexpr std::array<std::string_view, 4> kSlowClocks = {"hpet", "acpi_pm", "jiffies", "refined-jiffies"};

MachineFact clock_fact(const MachineRoots& roots) {
  MachineFact fact = unreadable("clock", "clock source");
  const auto source = read_small(roots.sys / "devices/system/clocksource/clocksource0/current_clocksource");
  if (!source || source->empty()) return fact;
  fact.value = *source;
  const bool slow = std::ranges::find(kSlowClocks, *source) != kSlowClocks.end();
  fact.mark = slow ? Mark::kBad : Mark::kOk;
  if (slow) fact.advice = "each look at the clock takes about a microsecond: boot with a tsc clock (see `dmesg | grep -i tsc`)";
  return fact;
}

// Of a virtual machine; empty where the host does not say.
std::string hypervisor(const MachineRoots& roots) {
  if (const auto type = read_small(roots.sys / "hypervisor/type"); type && !type->empty()) return *type;
  std::string words;
  for (const char* file : {"sys_vendor", "product_name"}) {
    const auto word = read_small(roots.sys / "class/dmi/id" / file);
    if (word && !word->empty()) words += (words.empty() ? "" : " ") + *word;
  }
  return words;
}

MachineFact virtual_fact(const MachineRoots& roots) {
  MachineFact fact = unreadable("virtual_machine", "virtual machine");
  const auto flags = text_at(roots.proc / "cpuinfo", "flags");
  const auto xen = read_small(roots.sys / "hypervisor/type");
  if (!flags && !xen) return fact;  // other CPUs than x86 do not say
  const bool guest = xen || fmt::format(" {} ", *flags).find(" hypervisor ") != std::string::npos;
  fact.mark = guest ? Mark::kCouldBeBetter : Mark::kOk;
  fact.value = "no";
  if (!guest) return fact;
  const std::string name = hypervisor(roots);
  fact.value = name.empty() ? "yes" : fmt::format("yes, {}", name);
  fact.advice = "neighbours can disturb what the signals here do not show; the A/A of `fiel doctor MODEL` sees it";
  return fact;
}

MachineFact power_fact(const MachineRoots& roots) {
  MachineFact fact = unreadable("power", "mains power");
  std::error_code code;
  std::optional<bool> online;
  for (const auto& entry : std::filesystem::directory_iterator(roots.sys / "class/power_supply", code)) {
    if (read_small(entry.path() / "type") != "Mains") continue;
    if (const auto on = read_number(entry.path() / "online")) online = online.value_or(false) || *on != 0;
  }
  if (!online) return fact;
  fact.value = *online ? "on" : "on battery";
  fact.mark = *online ? Mark::kOk : Mark::kBad;
  if (!*online) fact.advice = "on battery the CPU is held back: plug it in";
  return fact;
}

}  // namespace

MachineFact confinement_fact(const KernelGuards& guards) {
  const auto missing = missing_guards(guards);
  MachineFact fact{.key = "confinement", .label = "workers are confined", .value = enforced_guards(guards),
                   .mark = missing.empty() ? Mark::kOk : Mark::kBad, .advice = {}};
  if (!missing.empty()) fact.advice = fmt::format("{}: don't tune models from people you don't trust", fmt::join(missing, "; "));
  return fact;
}

std::vector<MachineFact> host_facts(const MachineRoots& roots) {
  return {clock_fact(roots), virtual_fact(roots), power_fact(roots)};
}

}  // namespace fiel
