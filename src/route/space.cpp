#include "route/space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "route/indexed_engine.h"
#include "route/sampler.h"
#include "route/walk.h"
#include "route/words.h"

namespace fiel {
namespace {

std::unexpected<Error> wrong(const EngineSpace& engine, std::string what) {
  return fail(ErrorKind::kProtocol,
              fmt::format("the knobs of engine '{}' are wrong: {}", engine.engine, what),
              "this is for the author of the engine's worker to mend");
}

bool is_word(std::string_view text) {
  return !text.empty() && text.find_first_of(" \t\r\n[]|") == std::string_view::npos;
}

Result<> check(const EngineSpace& engine) {
  if (!is_word(engine.engine)) return wrong(engine, "its name is empty or holds blanks or []|");
  std::set<std::string> names;
  for (const Knob& knob : engine.knobs) {
    if (!is_word(knob.name) || knob.name.find('=') != std::string::npos || knob.name == "engine") {
      return wrong(engine, fmt::format("'{}' cannot be a knob's name", knob.name));
    }
    if (!names.insert(knob.name).second) return wrong(engine, knob.name + " is there twice");
    const std::set<std::string> values(knob.values.begin(), knob.values.end());
    if (values.size() != knob.values.size()) {
      return wrong(engine, "a value of " + knob.name + " is there twice");
    }
    if (!std::ranges::all_of(knob.values, is_word)) {
      return wrong(engine, "a value of " + knob.name + " is empty or holds blanks or []|");
    }
    if (!values.contains(knob.default_value)) {
      return wrong(engine,
                   fmt::format("the default '{}' of {} is none of its values: {}",
                               knob.default_value, knob.name, fmt::join(knob.values, ", ")));
    }
  }
  return {};
}

// Moves each knob behind those that its conditions name; the others keep their order.
Result<> sort_by_conditions(EngineSpace& engine) {
  const auto names = knob_names(engine);
  const std::set<std::string> known(names.begin(), names.end());
  std::vector<Knob> waiting = std::exchange(engine.knobs, {});
  std::set<std::string> placed;
  const auto is_ready = [&](const Knob& knob) {
    return std::ranges::all_of(knob.only_if, [&](const Condition& condition) {
      return placed.contains(condition.knob) || !known.contains(condition.knob);
    });
  };
  while (!waiting.empty()) {
    const auto ready = std::ranges::find_if(waiting, is_ready);
    if (ready == waiting.end()) {
      return wrong(engine, "the conditions of " + waiting.front().name + " form a circle");
    }
    placed.insert(ready->name);
    engine.knobs.push_back(std::move(*ready));
    waiting.erase(ready);
  }
  return {};
}

}  // namespace

Result<Space> Space::create(std::vector<EngineSpace> engines) {
  std::set<std::string> names;
  for (EngineSpace& engine : engines) {
    if (!names.insert(engine.engine).second) return wrong(engine, "the engine is there twice");
    FIEL_TRY(check(engine));
    FIEL_TRY(sort_by_conditions(engine));
  }
  Space space;
  space.engines_ = std::move(engines);
  return space;
}

Result<Space> Space::only(std::vector<BuildRoute> routes) const {
  if (routes.empty()) return fail(ErrorKind::kUsage, "a list of routes is empty");
  for (BuildRoute& route : routes) {
    FIEL_TRY(validate(route));
    route = canonical(std::move(route));
  }
  std::ranges::sort(routes);
  routes.erase(std::unique(routes.begin(), routes.end()), routes.end());
  Space space = *this;
  space.listed_ = std::make_shared<const std::vector<BuildRoute>>(std::move(routes));
  return space;
}

const EngineSpace* Space::find_engine(std::string_view name) const {
  const auto found = std::ranges::find(engines_, name, &EngineSpace::engine);
  return found == engines_.end() ? nullptr : &*found;
}

const Knob* Space::find_knob(std::string_view engine, std::string_view knob) const {
  const EngineSpace* space = find_engine(engine);
  if (space == nullptr) return nullptr;
  const auto found = std::ranges::find(space->knobs, knob, &Knob::name);
  return found == space->knobs.end() ? nullptr : &*found;
}

BuildRoute Space::canonical(BuildRoute route) const {
  const EngineSpace* engine = find_engine(route.engine);
  if (engine == nullptr) return route;
  // In the knobs' order, so that a knob whose condition names a dropped one is dropped as well.
  std::set<std::string> idle;
  for (const Knob& knob : engine->knobs) {
    const bool is_counting = std::ranges::all_of(knob.only_if, [&](const Condition& condition) {
      const Knob* other = find_knob(route.engine, condition.knob);
      if (other == nullptr) return true;
      if (idle.contains(condition.knob)) return false;
      const auto set = route.settings.find(condition.knob);
      const std::string& value = set == route.settings.end() ? other->default_value : set->second;
      return std::ranges::find(condition.values, value) != condition.values.end();
    });
    if (!is_counting) idle.insert(knob.name);
  }
  std::erase_if(route.settings, [&](const auto& setting) {
    const Knob* knob = find_knob(route.engine, setting.first);
    return knob != nullptr &&
           (idle.contains(setting.first) || setting.second == knob->default_value);
  });
  return route;
}

Result<> Space::validate(const BuildRoute& route) const {
  const EngineSpace* engine = find_engine(route.engine);
  if (engine == nullptr) return unknown_engine(route.engine, *this);
  for (const auto& [name, value] : route.settings) {
    const Knob* knob = find_knob(route.engine, name);
    if (knob == nullptr) return unknown_knob(name, *engine);
    if (std::ranges::find(knob->values, value) == knob->values.end()) {
      return unknown_value(value, *knob);
    }
  }
  const IndexedEngine index(*engine);
  const auto choices = index.choices(route);
  if (!choices) {
    // Everything set is known, so a default is missing: the space was restricted by hand.
    for (const Knob& knob : engine->knobs) {
      if (!route.settings.contains(knob.name) &&
          std::ranges::find(knob.values, knob.default_value) == knob.values.end()) {
        return unknown_value(knob.default_value, knob);
      }
    }
  }
  if (const Forbidden* clause = choices ? index.forbidding(*choices) : nullptr) {
    std::vector<std::string> words;
    for (const auto& [name, value] : clause->settings) words.push_back(name + "=" + value);
    return fail(ErrorKind::kUsage,
                fmt::format("{} is not possible: {}", fmt::join(words, " "), clause->why),
                "change one of these settings");
  }
  if (listed_ && !std::ranges::binary_search(*listed_, canonical(route))) {
    return fail(ErrorKind::kUsage, fmt::format("'{}' is none of the {} routes listed", to_string(route), listed_->size()));
  }
  return {};
}

double Space::size() const {
  return listed_ ? static_cast<double>(listed_->size()) : RouteSampler(*this).size();
}

void Space::enumerate(const std::function<bool(const BuildRoute&)>& visit) const {
  RouteWalk walk(*this);
  while (const auto route = walk.next()) {
    if (!visit(*route)) return;
  }
}

BuildRoute Space::random_route(Rng& rng) const { return RouteSampler(*this).draw(rng); }

std::vector<BuildRoute> in_turns(const std::vector<std::vector<BuildRoute>>& lists) {
  std::vector<BuildRoute> all;
  for (std::size_t turn = 0;; ++turn) {
    const std::size_t before = all.size();
    for (const auto& list : lists) {
      if (turn < list.size()) all.push_back(list[turn]);
    }
    if (all.size() == before) return all;
  }
}

std::vector<BuildRoute> Space::neighbours(const BuildRoute& route) const {
  std::vector<BuildRoute> found;
  const EngineSpace* engine = find_engine(route.engine);
  if (engine == nullptr) return found;
  const IndexedEngine index(*engine);
  const auto choices = index.choices(route);
  if (!choices) return found;
  std::vector<std::vector<BuildRoute>> by_knob;
  for (int knob = 0; knob < index.knob_count(); ++knob) {
    const int now = (*choices)[static_cast<std::size_t>(knob)];
    if (now == kNotCounting) continue;
    auto& turns = by_knob.emplace_back();
    for (int value = 0; value < index.value_count(knob); ++value) {
      if (value == now) continue;
      Choices turned = *choices;
      turned[static_cast<std::size_t>(knob)] = value;
      index.settle(turned);
      if (index.forbidding(turned) != nullptr) continue;
      BuildRoute neighbour = index.route(turned);
      if (!listed_ || std::ranges::binary_search(*listed_, neighbour)) turns.push_back(std::move(neighbour));
    }
  }
  return in_turns(by_knob);
}

std::optional<BuildRoute> Space::nearest_valid(const BuildRoute& route) const {
  if (engines_.empty()) return std::nullopt;
  const EngineSpace* engine = find_engine(route.engine);
  const BuildRoute start = engine != nullptr ? route : BuildRoute{engines_.front().engine, {}};
  if (engine == nullptr) engine = &engines_.front();
  BuildRoute kept{.engine = engine->engine, .settings = {}};
  for (const Knob& knob : engine->knobs) {
    const auto allows = [&](const std::string& value) {
      return std::ranges::find(knob.values, value) != knob.values.end();
    };
    std::string value = setting_or(start, knob.name, knob.default_value);
    if (!allows(value))
      value = allows(knob.default_value) ? knob.default_value : knob.values.front();
    kept.settings.emplace(knob.name, value);
  }
  kept = canonical(std::move(kept));
  if (validate(kept)) return kept;
  if (!listed_) return std::nullopt;
  const auto distance = [&](const BuildRoute& other) {
    if (other.engine != kept.engine) return engine->knobs.size() + 1;
    return static_cast<std::size_t>(std::ranges::count_if(engine->knobs, [&](const Knob& knob) {
      const auto a = std::as_const(kept).settings.find(knob.name);
      const auto b = other.settings.find(knob.name);
      if (a == kept.settings.end() || b == other.settings.end()) return (a == kept.settings.end()) != (b == other.settings.end());
      return a->second != b->second;
    }));
  };
  return *std::ranges::min_element(*listed_, std::ranges::less{}, distance);
}

}  // namespace fiel
