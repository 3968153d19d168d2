// How are the routes of one engine counted through quickly? Values as small numbers, knobs in an
// order in which conditions look back only. Shared by walk, sampler and space; of no use elsewhere.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "route/space.h"

namespace fiel {

/// Value number per knob; kNotCounting where a condition does not hold.
using Choices = std::vector<int>;
inline constexpr int kNotCounting = -1;

class IndexedEngine {
 public:
  /// Keeps a reference; its knobs are in the order that Space::create makes.
  explicit IndexedEngine(const EngineSpace& engine);

  int knob_count() const { return static_cast<int>(knobs_.size()); }
  /// Values of one knob; number 0 is the default where it is allowed.
  int value_count(int knob) const;

  /// Whether `knob` counts, given the choices for all knobs before it.
  bool counts(std::span<const int> choices, int knob) const;
  /// Whether a clause whose last knob is `knob` forbids the choices so far.
  bool forbidden_at(std::span<const int> choices, int knob) const;

  /// Choices that count make a route, defaults left out.
  BuildRoute route(std::span<const int> choices) const;
  /// The choices of a route; nothing where a knob or a value is unknown.
  std::optional<Choices> choices(const BuildRoute& route) const;
  /// Re-decides which knobs count, from the first to the last; those that newly count get value 0.
  void settle(Choices& choices) const;
  /// The first clause that forbids complete choices.
  const Forbidden* forbidding(std::span<const int> choices) const;

  /// Knobs tied by conditions or clauses, each set in ascending order; the sets are independent.
  std::vector<std::vector<int>> independent_sets() const;

 private:
  struct IndexedCondition {
    int knob;
    std::vector<bool> allows;  // by value number
  };
  struct IndexedKnob {
    std::vector<std::string> values;
    std::vector<IndexedCondition> conditions;
  };
  struct Clause {
    const Forbidden* source;
    std::vector<std::pair<int, int>> settings;  // knob, value number
    std::vector<bool> is_default;  // per setting: also matches a knob that doesn't count
    int last_knob;
  };

  std::optional<int> find(std::string_view knob) const;
  std::optional<int> find_value(int knob, std::string_view value) const;
  void add_clause(const Forbidden& forbidden);
  bool matches(const Clause& clause, std::span<const int> choices) const;

  const EngineSpace* engine_;
  std::vector<IndexedKnob> knobs_;
  std::vector<Clause> clauses_;
};

}  // namespace fiel
