// A small space for tests: two engines, a conditional knob with a dependent of its own, a clause.
#pragma once

#include "base/result.h"
#include "route/space.h"

namespace fiel {

inline Knob example_knob(std::string name, std::vector<std::string> values,
                         std::vector<Condition> only_if = {}) {
  Knob knob;
  knob.name = std::move(name);
  knob.default_value = values.front();
  knob.values = std::move(values);
  knob.only_if = std::move(only_if);
  return knob;
}

// alpha: 3 streams x 2 variants x (static, or dynamic with cache off or on at size 1 or 2), less
// int8 with 4 streams: (6 - 1) * (1 + 1 + 2) = 20. beta: 2 levels x 2 variants = 4.
inline Space example_space() {
  EngineSpace alpha{
      .engine = "alpha",
      .knobs = {example_knob("streams", {"1", "2", "4"}),
                example_knob("variant", {"float32", "int8"}),
                example_knob("cache_size", {"1", "2"},
                             {{"cache", {"on"}}}),  // before its condition
                example_knob("shape", {"dynamic", "static"}),
                example_knob("cache", {"off", "on"}, {{"shape", {"dynamic"}}})},
      .forbidden = {{{{"variant", "int8"}, {"streams", "4"}}, "int8 runs on two streams at most"}}};
  EngineSpace beta{.engine = "beta",
                   .knobs = {example_knob("level", {"basic", "all"}),
                             example_knob("variant", {"float32", "int4"})},
                   .forbidden = {}};
  auto space = Space::create({alpha, beta});
  FIEL_CHECK(space.has_value());
  return *std::move(space);
}

}  // namespace fiel
