// On what machine does this run? What a record is bound to, and which cores may be used. Knows no engine: what the CPU can do
// for one is told by its worker.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "contract/contract.h"

namespace fiel {

struct ThisMachine {
  std::string cpu;  // the kernel's name for the model
  std::int64_t cpu_count = 0;
  std::string kernel;
  std::int64_t memory_bytes = 0;
};
ThisMachine this_machine();
Json to_json(const ThisMachine& machine);

/// Those that are not there, or not for this process to use.
std::vector<int> missing_cores(std::span<const int> cores);
/// kContract where one of the contract's cores is missing.
Result<> check_cores(const Contract& contract);

}  // namespace fiel
