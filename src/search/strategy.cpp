#include "search/strategy.h"

#include <fmt/format.h>

#include <string>

#include "base/nearest.h"
#include "search/strategies.h"

namespace fiel {

std::string_view to_string(Trial::Outcome outcome) {
  switch (outcome) {
    case Trial::Outcome::kAdmissibleSoFar: return "admissible";
    case Trial::Outcome::kRejected: return "rejected";
    case Trial::Outcome::kFailed: return "failed";
  }
  return "failed";
}

std::vector<std::string_view> strategy_names() {
  return {"auto", "full", "fast", "mixed", "random"};
}

Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const Space& space,
                                                const BuildRoute& baseline, std::uint64_t seed) {
  if (name == "auto") return make_auto(space, baseline, seed);
  if (name == "full") return make_full(space);
  if (name == "fast") return make_fast(space, baseline);
  if (name == "mixed") return make_mixed(space, baseline);
  if (name == "random") return make_random(space, seed);
  if (name.starts_with(kProgram)) return make_program(space, baseline, seed, name.substr(kProgram.size()));
  const auto views = strategy_names();
  const std::vector<std::string> known(views.begin(), views.end());
  return fail(ErrorKind::kUsage, fmt::format("no strategy '{}'", name), did_you_mean(name, known));
}

std::vector<BuildRoute> starts(const Space& space, const BuildRoute& baseline) {
  std::vector<BuildRoute> found;
  if (auto first = space.nearest_valid(baseline)) found.push_back(*std::move(first));
  for (const EngineSpace& engine : space.engines()) {
    if (!found.empty() && engine.engine == found.front().engine) continue;
    if (auto start = space.nearest_valid({engine.engine, {}})) found.push_back(*std::move(start));
  }
  return found;
}

}  // namespace fiel
