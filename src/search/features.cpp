#include "search/features.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/numbers.h"

namespace fiel {
namespace {

constexpr std::size_t kMostLevels = 255;
// Also neighbouring numbers differ by something of their own: 8 and 16 threads are not a scale.
constexpr float kOwnPart = 0.25F;

std::vector<std::size_t> ranks_of(const std::vector<std::string>& values) {
  std::vector<double> numbers;
  for (const std::string& value : values) {
    const auto number = number_from<double>(value);
    if (!number) return {};
    numbers.push_back(*number);
  }
  std::vector<double> sorted = numbers;
  std::ranges::sort(sorted);
  std::vector<std::size_t> ranks;
  for (const double number : numbers) ranks.push_back(static_cast<std::size_t>(std::ranges::find(sorted, number) - sorted.begin()));
  return ranks;
}

}  // namespace

void Features::measure(Column& column, const std::vector<std::string>& values, std::size_t first) {
  column.levels = std::min(values.size(), kMostLevels) + first;
  for (std::size_t i = 0; i + first < column.levels; ++i) column.numbers.emplace(values[i], static_cast<std::uint8_t>(i + first));
  const auto ranks = ranks_of(values);
  column.distance.assign(column.levels * column.levels, 1.0F);
  for (std::size_t a = 0; a < column.levels; ++a) {
    column.distance[a * column.levels + a] = 0.0F;
    for (std::size_t b = 0; b < column.levels; ++b) {
      if (a == b || a < first || b < first || ranks.size() < 3) continue;
      const float apart = std::abs(static_cast<float>(ranks[a - first]) - static_cast<float>(ranks[b - first]));
      column.distance[a * column.levels + b] = kOwnPart + (1 - kOwnPart) * apart / static_cast<float>(ranks.size() - 1);
    }
  }
}

Features::Features(const Space& space) : space_(&space) {
  std::vector<std::string> engines;
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> values;
  for (const EngineSpace& engine : space.engines()) {
    engines.push_back(engine.engine);
    for (const Knob& knob : engine.knobs) {
      auto& all = values[knob.name];
      if (all.empty()) names.push_back(knob.name);
      for (const std::string& value : knob.values) {
        if (std::ranges::find(all, value) == all.end()) all.push_back(value);
      }
    }
  }
  measure(columns_.emplace_back(), engines, 0);
  for (const std::string& name : names) {
    by_name_.emplace(name, columns_.size());
    measure(columns_.emplace_back(), values[name], 1);
  }
}

Levels Features::levels_of(const BuildRoute& route) const {
  Levels levels(columns_.size(), 0);
  levels[0] = columns_[0].numbers.find(route.engine)->second;
  for (const Knob& knob : space_->find_engine(route.engine)->knobs) {
    const auto set = route.settings.find(knob.name);
    const bool counts = std::ranges::all_of(knob.only_if, [&](const Condition& condition) {
      const Knob* other = space_->find_knob(route.engine, condition.knob);
      if (other == nullptr) return true;
      const auto column = by_name_.find(condition.knob)->second;
      return std::ranges::any_of(condition.values, [&](const std::string& value) {
        const auto number = columns_[column].numbers.find(value);
        return number != columns_[column].numbers.end() && number->second == levels[column];
      });
    });
    if (!counts) continue;
    const std::size_t column = by_name_.find(knob.name)->second;
    const auto number = columns_[column].numbers.find(set == route.settings.end() ? knob.default_value : set->second);
    if (number != columns_[column].numbers.end()) levels[column] = number->second;
  }
  return levels;
}

}  // namespace fiel
