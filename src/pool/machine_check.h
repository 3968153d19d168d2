// Is this machine, now, fit for measuring? Facts that people can act on, each with a mark and what to do about it. Knows
// no timing and decides nothing: a bad mark is a warning, the A/A of `fiel doctor` is the proof.
//
//   look      counters at one moment; two looks some time apart say what others did in between
//   mark      ok | could_be_better | bad | unknown ("not readable here": never a guess)
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/confine.h"
#include "base/json.h"
#include "base/proc.h"
#include "pool/machine.h"

namespace fiel {

enum class Mark { kOk, kCouldBeBetter, kBad, kUnknown };
std::string_view to_string(Mark mark);

struct MachineFact {
  std::string key;     // "governor": for programs
  std::string label;   // "frequency governor": for people
  std::string value;
  Mark mark = Mark::kUnknown;
  std::string advice;  // what to do; empty where there is nothing to do
};

struct MachineLook {
  std::optional<MachineSample> sample;
  std::vector<ProcessFacts> processes;
  std::optional<std::int64_t> swapped_pages;  // in and out, since boot
};

MachineLook look_at_machine(const MachineRoots& roots = {});

struct LookPair {
  const MachineLook& before;
  const MachineLook& after;
  double seconds = 0;  // between the two
};

/// All facts, always the same keys in the same order.
std::vector<MachineFact> check_machine(const MachineRoots& roots, const LookPair& looks);

/// How far the kernel holds workers to their own files and away from the network: bad where it lacks something.
MachineFact confinement_fact(const KernelGuards& guards);

Json to_json(const std::vector<MachineFact>& facts);

}  // namespace fiel
