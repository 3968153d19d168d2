// Is this still the place where a bundle was measured: the same engine, device, CPU and cores? Compares what is written down,
// runs nothing.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "pool/requests.h"
#include "tune/this_machine.h"

namespace fiel {

struct Here {
  ThisMachine machine;
  std::vector<int> missing_cores;  // of the bundle's
  const HelloResult& engine;
};

/// One line for everything that the artifact and its figures are bound to and that is not the same here (methodology, rule
/// 19). More CPU features are a difference too: the engine would choose other code. What a bundle of an older format does
/// not say is not compared.
std::vector<std::string> environment_differences(const Json& bundle, const Here& here);

/// What the engine read back when the artifact was measured, against what it reads back now.
std::vector<std::string> effective_differences(const Json& bundle, const Json& effective_now);

}  // namespace fiel
