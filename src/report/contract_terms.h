// What does a contract ask, as short words that can be held side by side? Paths are left out: the same question may lie in
// another folder.
#pragma once

#include <map>
#include <string>

#include "contract/contract.h"

namespace fiel {

/// "accuracy.task exact_match" -> "score.py, drop at most 0.01; small: drop at most 0.03", "workload.objective" -> "latency_p50".
std::map<std::string, std::string> contract_terms(const Contract& contract);

}  // namespace fiel
