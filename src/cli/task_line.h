// How check, bench and verify say what one task lost on one slice: always with n and what is allowed.
#pragma once

#include <string>

#include "gate/gate.h"

namespace fiel {

/// "exact_match          small          0.9500 (reference 0.9620), drop +0.0120 of 0.0300 allowed, n = 300"
std::string task_line(const TaskVerdict& task);

}  // namespace fiel
