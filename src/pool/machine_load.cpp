#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "pool/machine_facts.h"

namespace fiel {
namespace {

constexpr double kNoticeableCores = 0.1;    // of foreign load
constexpr double kNoticeableSteal = 0.005;  // of a core: the ticks' own size over two seconds
constexpr std::size_t kMostNamed = 3;
constexpr double kLeastNamed = 0.02;  // cores

struct Busy {
  std::string name;
  double cores = 0;
};

// What each program used between the looks; several processes of one name (compilers, say) count as one.
std::vector<Busy> busiest(const LookPair& looks, pid_t self) {
  std::map<pid_t, double> before;
  for (const ProcessFacts& process : looks.before.processes) before[process.pid] = process.cpu_seconds;
  std::map<std::string, double> by_name;
  for (const ProcessFacts& process : looks.after.processes) {
    const auto known = before.find(process.pid);
    const double used = process.cpu_seconds - (known == before.end() ? 0.0 : known->second);
    if (process.pid != self) by_name[process.name] += used / looks.seconds;
  }
  std::vector<Busy> all;
  for (const auto& [name, cores] : by_name) {
    if (cores >= kLeastNamed) all.push_back({name, cores});
  }
  std::ranges::sort(all, [](const Busy& a, const Busy& b) { return a.cores > b.cores; });
  if (all.size() > kMostNamed) all.resize(kMostNamed);
  return all;
}

double used_by(const LookPair& looks, pid_t self) {
  const auto seconds = [&](const MachineLook& look) {
    const auto found = std::ranges::find(look.processes, self, &ProcessFacts::pid);
    return found == look.processes.end() ? 0.0 : found->cpu_seconds + found->reaped_cpu_seconds;
  };
  return seconds(looks.after) - seconds(looks.before);
}

MachineFact steal_fact(const LookPair& looks) {
  MachineFact fact = unreadable("steal", "taken by the hypervisor");
  if (!looks.before.sample || !looks.after.sample || !(looks.seconds > 0)) return fact;
  const double cores = (looks.after.sample->steal_seconds - looks.before.sample->steal_seconds) / looks.seconds;
  fact.value = fmt::format("{:.2f} cores", cores);
  fact.mark = cores > kStolenCores ? Mark::kBad : cores > kNoticeableSteal ? Mark::kCouldBeBetter : Mark::kOk;
  if (fact.mark == Mark::kBad) {
    fact.advice = fmt::format("rounds with more than {:.2f} are rejected: another host, dedicated cores, or a quieter hour",
                              kStolenCores);
  } else if (fact.mark == Mark::kCouldBeBetter) {
    fact.advice = "neighbours on this host are noticeable: dedicated cores, or a quieter hour";
  }
  return fact;
}

MachineFact foreign_fact(const MachineRoots& roots, const LookPair& looks) {
  MachineFact fact = unreadable("load", "used by other programs");
  if (!looks.before.sample || !looks.after.sample || !(looks.seconds > 0)) return fact;
  const auto self = static_cast<pid_t>(read_number(roots.proc / "self/stat").value_or(0));
  const double busy = looks.after.sample->busy_seconds - looks.before.sample->busy_seconds - used_by(looks, self);
  const double cores = std::max(0.0, busy / looks.seconds);
  fact.value = fmt::format("{:.2f} cores", cores);
  const auto names = busiest(looks, self);
  std::string list;
  for (const Busy& one : names) list += fmt::format("{}{} {:.2f}", list.empty() ? "" : ", ", one.name, one.cores);
  if (!list.empty()) fact.value += ": " + list;
  fact.mark = cores > kForeignCores ? Mark::kBad : cores > kNoticeableCores ? Mark::kCouldBeBetter : Mark::kOk;
  if (fact.mark == Mark::kOk) return fact;
  fact.advice = names.empty() ? std::string("nobody that we can see: other containers or users of this host")
                              : fmt::format("stop {} while fiel measures", names.front().name);
  if (fact.mark == Mark::kBad) fact.advice += fmt::format("; rounds with more than {:.1f} cores are rejected", kForeignCores);
  return fact;
}

MachineFact average_fact(const MachineRoots& roots) {
  MachineFact fact = unreadable("load_average", "load average (1, 5, 15 min)");
  const auto text = read_small(roots.proc / "loadavg");
  if (!text) return fact;
  const std::size_t first = text->find(' ');
  const std::size_t second = text->find(' ', first + 1);
  if (first == std::string::npos || second == std::string::npos) return fact;
  fact.value = text->substr(0, text->find(' ', second + 1));
  fact.mark = Mark::kOk;  // what it was, not what it is
  return fact;
}

}  // namespace

std::vector<MachineFact> load_facts(const MachineRoots& roots, const LookPair& looks) {
  return {steal_fact(looks), foreign_fact(roots, looks), average_fact(roots)};
}

}  // namespace fiel
