#include "route/indexed_engine.h"

#include <algorithm>
#include <numeric>

#include "base/result.h"

namespace fiel {

IndexedEngine::IndexedEngine(const EngineSpace& engine) : engine_(&engine) {
  for (const Knob& knob : engine.knobs) {
    IndexedKnob indexed{.values = knob.values, .conditions = {}};
    const auto found = std::ranges::find(indexed.values, knob.default_value);
    if (found != indexed.values.end()) std::rotate(indexed.values.begin(), found, found + 1);
    for (const Condition& condition : knob.only_if) {
      const auto other = find(condition.knob);
      if (!other) continue;
      std::vector<bool> allows;
      for (const std::string& value : knobs_[static_cast<std::size_t>(*other)].values) {
        allows.push_back(std::ranges::find(condition.values, value) != condition.values.end());
      }
      indexed.conditions.push_back({.knob = *other, .allows = std::move(allows)});
    }
    knobs_.push_back(std::move(indexed));
  }
  for (const Forbidden& forbidden : engine.forbidden) add_clause(forbidden);
}

int IndexedEngine::value_count(int knob) const {
  return static_cast<int>(knobs_[static_cast<std::size_t>(knob)].values.size());
}

std::optional<int> IndexedEngine::find(std::string_view name) const {
  // While the constructor runs, knobs_ is shorter than the engine's list: only knobs before count.
  for (std::size_t knob = 0; knob < engine_->knobs.size() && knob < knobs_.size(); ++knob) {
    if (engine_->knobs[knob].name == name) return static_cast<int>(knob);
  }
  return std::nullopt;
}

std::optional<int> IndexedEngine::find_value(int knob, std::string_view value) const {
  const auto& values = knobs_[static_cast<std::size_t>(knob)].values;
  const auto found = std::ranges::find(values, value);
  if (found == values.end()) return std::nullopt;
  return static_cast<int>(found - values.begin());
}

void IndexedEngine::add_clause(const Forbidden& forbidden) {
  Clause clause{.source = &forbidden, .settings = {}, .is_default = {}, .last_knob = -1};
  for (const auto& [name, value] : forbidden.settings) {
    const auto knob = find(name);
    if (!knob) return;
    const bool is_default = engine_->knobs[static_cast<std::size_t>(*knob)].default_value == value;
    const auto number = find_value(*knob, value);
    if (!number && !is_default) return;
    // A value that is not allowed here can still be the one of a knob that does not count.
    clause.settings.emplace_back(*knob, number.value_or(kNotCounting));
    clause.is_default.push_back(is_default);
    clause.last_knob = std::max(clause.last_knob, *knob);
  }
  if (clause.last_knob >= 0) clauses_.push_back(std::move(clause));
}

bool IndexedEngine::counts(std::span<const int> choices, int knob) const {
  const auto& conditions = knobs_[static_cast<std::size_t>(knob)].conditions;
  return std::ranges::all_of(conditions, [&](const IndexedCondition& condition) {
    const int choice = choices[static_cast<std::size_t>(condition.knob)];
    return choice != kNotCounting && condition.allows[static_cast<std::size_t>(choice)];
  });
}

bool IndexedEngine::matches(const Clause& clause, std::span<const int> choices) const {
  for (std::size_t i = 0; i < clause.settings.size(); ++i) {
    const auto [knob, number] = clause.settings[i];
    const int choice = choices[static_cast<std::size_t>(knob)];
    if (choice == kNotCounting ? !clause.is_default[i] : choice != number) return false;
  }
  return true;
}

bool IndexedEngine::forbidden_at(std::span<const int> choices, int knob) const {
  return std::ranges::any_of(clauses_, [&](const Clause& clause) {
    return clause.last_knob == knob && matches(clause, choices);
  });
}

const Forbidden* IndexedEngine::forbidding(std::span<const int> choices) const {
  const auto found = std::ranges::find_if(
      clauses_, [&](const Clause& clause) { return matches(clause, choices); });
  return found == clauses_.end() ? nullptr : found->source;
}

BuildRoute IndexedEngine::route(std::span<const int> choices) const {
  BuildRoute route{.engine = engine_->engine, .settings = {}};
  for (std::size_t knob = 0; knob < knobs_.size(); ++knob) {
    if (choices[knob] == kNotCounting) continue;
    const std::string& value = knobs_[knob].values[static_cast<std::size_t>(choices[knob])];
    if (value != engine_->knobs[knob].default_value) {
      route.settings.emplace(engine_->knobs[knob].name, value);
    }
  }
  return route;
}

std::optional<Choices> IndexedEngine::choices(const BuildRoute& route) const {
  Choices choices;
  for (std::size_t knob = 0; knob < knobs_.size(); ++knob) {
    const auto set = route.settings.find(engine_->knobs[knob].name);
    const bool is_set = set != route.settings.end();
    const auto number = find_value(static_cast<int>(knob),
                                   is_set ? set->second : engine_->knobs[knob].default_value);
    const bool is_counting = counts(choices, static_cast<int>(knob));
    if (!number && (is_set || is_counting)) return std::nullopt;
    choices.push_back(is_counting ? *number : kNotCounting);
  }
  return choices;
}

void IndexedEngine::settle(Choices& choices) const {
  for (int knob = 0; knob < knob_count(); ++knob) {
    int& choice = choices[static_cast<std::size_t>(knob)];
    if (!counts(choices, knob)) {
      choice = kNotCounting;
    } else if (choice == kNotCounting) {
      choice = 0;
    }
  }
}

std::vector<std::vector<int>> IndexedEngine::independent_sets() const {
  std::vector<int> leader(knobs_.size());
  std::iota(leader.begin(), leader.end(), 0);
  const auto join = [&](int a, int b) {
    const int from = leader[static_cast<std::size_t>(a)], to = leader[static_cast<std::size_t>(b)];
    for (int& one : leader)
      one = one == from ? std::min(from, to) : one == to ? std::min(from, to) : one;
  };
  for (int knob = 0; knob < knob_count(); ++knob) {
    for (const auto& condition : knobs_[static_cast<std::size_t>(knob)].conditions) {
      join(knob, condition.knob);
    }
  }
  for (const Clause& clause : clauses_) {
    for (const auto& [knob, number] : clause.settings) join(knob, clause.settings.front().first);
  }
  std::vector<std::vector<int>> sets;
  for (int first = 0; first < knob_count(); ++first) {
    std::vector<int> members;
    for (int knob = 0; knob < knob_count(); ++knob) {
      if (leader[static_cast<std::size_t>(knob)] == first) members.push_back(knob);
    }
    if (!members.empty()) sets.push_back(std::move(members));
  }
  return sets;
}

}  // namespace fiel
