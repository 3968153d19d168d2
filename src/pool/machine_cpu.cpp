#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/cpu_list.h"
#include "pool/machine_facts.h"

namespace fiel {
namespace {

MachineFact model_fact(const MachineRoots& roots) {
  MachineFact fact = unreadable("cpu", "CPU");
  if (const auto model = text_at(roots.proc / "cpuinfo", "model name"); model && !model->empty()) {
    fact.value = *model;
    fact.mark = Mark::kOk;
  }
  return fact;
}

MachineFact cores_fact(const MachineRoots& roots) {
  MachineFact fact = unreadable("cores", "cores usable");
  const auto usable = usable_cores(roots);
  if (!usable) return fact;
  const auto list = text_at(roots.proc / "self/status", "Cpus_allowed_list");
  const auto online = read_small(roots.sys / "devices/system/cpu/online");
  const auto there = online ? parse_cpu_list(*online) : std::nullopt;
  fact.value = there ? fmt::format("{} of {} ({})", usable->size(), there->size(), *list)
                     : fmt::format("{} ({})", usable->size(), *list);
  fact.mark = Mark::kOk;
  if (usable->size() == 1) {
    fact.mark = Mark::kCouldBeBetter;
    fact.advice = "with one core fiel itself and all else here run on the core that is timed: use a machine with two";
  }
  return fact;
}

// In cores: the smallest quota of our control group and those above it; 0 where there is none.
std::optional<double> cpu_quota(const MachineRoots& roots) {
  std::optional<double> smallest;
  for (const auto& group : control_groups(roots)) {
    const auto text = read_small(group / "cpu.max");
    if (!text) continue;
    if (!smallest) smallest = 0;
    double quota = 0, period = 0;
    const char* const end = text->data() + text->size();
    const auto first = std::from_chars(text->data(), end, quota);
    if (first.ec != std::errc() || first.ptr == end) continue;  // "max"
    if (std::from_chars(first.ptr + 1, end, period).ec != std::errc() || !(period > 0)) continue;
    smallest = *smallest > 0 ? std::min(*smallest, quota / period) : quota / period;
  }
  return smallest;
}

MachineFact quota_fact(const MachineRoots& roots, const LookPair& looks) {
  MachineFact fact = unreadable("cpu_quota", "CPU quota (cgroup)");
  auto quota = cpu_quota(roots);
  // The group at the root of the machine has no such file: then nothing is limited.
  if (!quota && !control_groups(roots).empty()) quota = 0;
  if (!quota) return fact;
  fact.mark = Mark::kOk;
  fact.value = "none";
  if (!(*quota > 0)) return fact;
  fact.value = fmt::format("{:.3g} cores", *quota);
  const auto usable = usable_cores(roots);
  const auto stopped = [](const MachineLook& look) {
    return look.sample ? look.sample->quota_stopped_seconds.value_or(0) : 0.0;
  };
  const double stopped_now = stopped(looks.after) - stopped(looks.before);
  if (stopped_now > 0) fact.value += fmt::format(", threads stopped for {:.2g} s just now", stopped_now);
  if ((usable && *quota < static_cast<double>(usable->size())) || stopped_now > 0) {
    fact.mark = Mark::kBad;
    const int whole = std::max(1, static_cast<int>(std::floor(*quota)));
    fact.advice = fmt::format(
        "the kernel stops all threads for up to 0.1 s when they have used up the quota: raise it, or set [target] cores "
        "to {} {}", whole, whole == 1 ? "core" : "cores");
  }
  return fact;
}

// The words that the cores have in this file of cpufreq, each once.
std::set<std::string> cpufreq_words(const MachineRoots& roots, const char* file) {
  std::set<std::string> words;
  for (const auto& core : cpu_folders(roots)) {
    if (const auto word = read_small(core / "cpufreq" / file); word && !word->empty()) words.insert(*word);
  }
  return words;
}

MachineFact governor_fact(const MachineRoots& roots) {
  MachineFact fact = unreadable("governor", "frequency governor");
  const auto governors = cpufreq_words(roots, "scaling_governor");
  if (governors.empty()) return fact;
  const auto drivers = cpufreq_words(roots, "scaling_driver");
  fact.value = fmt::format("{}", fmt::join(governors, ", "));
  if (!drivers.empty()) fact.value += fmt::format(" ({})", fmt::join(drivers, ", "));
  if (governors == std::set<std::string>{"performance"}) {
    fact.mark = Mark::kOk;
    return fact;
  }
  // With the drivers that leave the choice to the CPU, "powersave" only means that it may slow down; with all others the
  // CPU stays at its lowest frequency.
  const bool cpu_chooses = std::ranges::any_of(drivers, [](const std::string& driver) {
    return driver == "intel_pstate" || driver == "amd-pstate-epp";
  });
  fact.mark = governors.contains("powersave") && !cpu_chooses ? Mark::kBad : Mark::kCouldBeBetter;
  fact.advice = "the frequency follows the load, so short blocks are timed while it climbs: "
                "sudo cpupower frequency-set -g performance";
  return fact;
}

MachineFact boost_fact(const MachineRoots& roots) {
  MachineFact fact = unreadable("boost", "turbo / boost");
  const std::filesystem::path cpu = roots.sys / "devices/system/cpu";
  std::optional<bool> on;
  std::string off;
  if (const auto no_turbo = read_number(cpu / "intel_pstate/no_turbo")) {
    on = *no_turbo == 0;
    off = "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo";
  } else if (const auto boost = read_number(cpu / "cpufreq/boost")) {
    on = *boost != 0;
    off = "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost";
  }
  if (!on) return fact;
  fact.value = *on ? "on" : "off";
  fact.mark = *on ? Mark::kCouldBeBetter : Mark::kOk;
  if (*on) fact.advice = "the frequency depends on heat and on neighbours; for the steadiest times: " + off;
  return fact;
}

MachineFact smt_fact(const MachineRoots& roots) {
  MachineFact fact = unreadable("smt", "SMT (hyper-threading)");
  const auto active = read_number(roots.sys / "devices/system/cpu/smt/active");
  if (!active) return fact;
  fact.value = *active != 0 ? "on" : "off";
  fact.mark = *active != 0 ? Mark::kCouldBeBetter : Mark::kOk;
  if (*active != 0) {
    fact.advice = "two threads share a core, so a neighbour takes half of it unseen: name one thread of each core in "
                  "[target] cores";
  }
  return fact;
}

MachineFact frequency_fact(const MachineRoots& roots, const LookPair& looks) {
  MachineFact fact = unreadable("frequency", "frequency now / most");
  std::optional<std::int64_t> most, allowed;
  for (const auto& core : cpu_folders(roots)) {
    if (const auto khz = read_number(core / "cpufreq/cpuinfo_max_freq")) most = std::max(most.value_or(0), *khz);
    if (const auto khz = read_number(core / "cpufreq/scaling_max_freq")) allowed = std::max(allowed.value_or(0), *khz);
  }
  const auto now = looks.after.sample ? looks.after.sample->highest_mhz : std::nullopt;
  const auto mhz = [](std::int64_t khz) { return static_cast<double>(khz) / 1000; };
  if (!now || !most) {
    // A guest sees one number that never changes.
    if (const auto told = text_at(roots.proc / "cpuinfo", "cpu MHz"); told && !told->empty()) {
      fact.value = fmt::format("{} MHz told by cpuinfo; the rest is not readable here", *told);
    }
    return fact;
  }
  fact.value = fmt::format("{:.0f} / {:.0f} MHz", *now, mhz(*most));
  fact.mark = Mark::kOk;
  if (allowed && *allowed < *most) {
    fact.value += fmt::format(", capped at {:.0f}", mhz(*allowed));
    fact.mark = Mark::kCouldBeBetter;
    fact.advice = "a cap holds the cores back (scaling_max_freq): steady, but is it what you serve with?";
  }
  return fact;
}

MachineFact throttle_fact(const LookPair& looks) {
  MachineFact fact = unreadable("throttling", "throttled by heat");
  const auto events = [](const MachineLook& look) {
    return look.sample ? look.sample->throttle_events : std::nullopt;
  };
  const auto before = events(looks.before), after = events(looks.after);
  if (!before || !after) return fact;
  const std::int64_t now = *after - *before;
  fact.value = fmt::format("{} events just now, {} since boot", now, *after);
  fact.mark = now > 0 ? Mark::kBad : Mark::kOk;
  if (now > 0) fact.advice = "the CPU is too hot to hold its speed: better cooling, fewer neighbours, or a lower frequency";
  return fact;
}

}  // namespace

std::vector<MachineFact> cpu_facts(const MachineRoots& roots, const LookPair& looks) {
  return {model_fact(roots), cores_fact(roots), quota_fact(roots, looks), governor_fact(roots), boost_fact(roots),
          smt_fact(roots),   frequency_fact(roots, looks), throttle_fact(looks)};
}

}  // namespace fiel
