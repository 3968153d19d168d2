#include "tune/this_machine.h"

#include <fmt/format.h>
#include <sched.h>

#include <nlohmann/json.hpp>

#include "pool/node.h"

namespace fiel {

ThisMachine this_machine() {
  const NodeFacts facts = node_facts();
  return {.cpu = facts.cpu, .cpu_count = facts.cpu_count, .kernel = facts.kernel, .memory_bytes = facts.memory_bytes};
}

Json to_json(const ThisMachine& machine) {
  return {{"cpu", machine.cpu},
          {"cores", machine.cpu_count},
          {"kernel", machine.kernel},
          {"memory_bytes", machine.memory_bytes}};
}

std::vector<int> missing_cores(std::span<const int> cores) {
  cpu_set_t ours;
  CPU_ZERO(&ours);
  std::vector<int> missing;
  if (sched_getaffinity(0, sizeof(ours), &ours) != 0) return missing;
  for (const int core : cores) {
    if (core < 0 || core >= CPU_SETSIZE || !CPU_ISSET(core, &ours)) missing.push_back(core);
  }
  return missing;
}

Result<> check_cores(const Contract& contract) {
  if (!contract.fleet.launcher.empty()) return {};  // another machine's, which refuses those that it has not
  const auto missing = missing_cores(contract.cores);
  if (missing.empty()) return {};
  return fail(ErrorKind::kContract,
              fmt::format("{}: core {} is not there, or not for this process to use", contract.place("target.cores"),
                          missing.front()),
              "`nproc` and `taskset -p $$` show what is; leave `cores` out to use all");
}

}  // namespace fiel
