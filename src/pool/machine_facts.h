// The parts of machine_check: each file reads what belongs together. For machine_check.cpp only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pool/machine_check.h"

namespace fiel {

/// What was read, or that it could not be.
MachineFact unreadable(std::string key, std::string label);

/// machine_cpu.cpp: model, cores, quota, governor, boost, SMT, frequency, throttling.
std::vector<MachineFact> cpu_facts(const MachineRoots& roots, const LookPair& looks);
/// machine_load.cpp: steal time, load of others.
std::vector<MachineFact> load_facts(const MachineRoots& roots, const LookPair& looks);
/// machine_memory.cpp: free memory, control group, swap, huge pages.
std::vector<MachineFact> memory_facts(const MachineRoots& roots, const LookPair& looks);
/// machine_host.cpp: clock source, virtual machine, mains power.
std::vector<MachineFact> host_facts(const MachineRoots& roots);

}  // namespace fiel
