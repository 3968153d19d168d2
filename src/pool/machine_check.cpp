#include "pool/machine_check.h"

#include <nlohmann/json.hpp>

#include "pool/machine_facts.h"

namespace fiel {

std::string_view to_string(Mark mark) {
  switch (mark) {
    case Mark::kOk: return "ok";
    case Mark::kCouldBeBetter: return "could_be_better";
    case Mark::kBad: return "bad";
    case Mark::kUnknown: return "unknown";
  }
  return "unknown";
}

MachineFact unreadable(std::string key, std::string label) {
  return {.key = std::move(key), .label = std::move(label), .value = "not readable here", .mark = Mark::kUnknown,
          .advice = {}};
}

MachineLook look_at_machine(const MachineRoots& roots) {
  MachineLook look{.sample = sample_machine(roots), .processes = read_all_processes(roots.proc.string()),
                   .swapped_pages = {}};
  const auto in = number_at(roots.proc / "vmstat", "pswpin");
  const auto out = number_at(roots.proc / "vmstat", "pswpout");
  if (in && out) look.swapped_pages = *in + *out;
  return look;
}

std::vector<MachineFact> check_machine(const MachineRoots& roots, const LookPair& looks) {
  std::vector<MachineFact> all;
  const auto take = [&](std::vector<MachineFact> facts) {
    for (MachineFact& fact : facts) all.push_back(std::move(fact));
  };
  take(cpu_facts(roots, looks));
  take(load_facts(roots, looks));
  take(memory_facts(roots, looks));
  take(host_facts(roots));
  return all;
}

Json to_json(const std::vector<MachineFact>& facts) {
  Json list = Json::array();
  for (const MachineFact& fact : facts) {
    list.push_back({{"key", fact.key}, {"label", fact.label}, {"value", fact.value}, {"mark", to_string(fact.mark)},
                    {"advice", fact.advice}});
  }
  return list;
}

}  // namespace fiel
