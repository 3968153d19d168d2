// restrict_space (route/space.h): the user's own sweep, written as words.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "route/space.h"
#include "route/words.h"

namespace fiel {
namespace {

struct Expression {
  std::vector<std::string> engines;                       // empty: all
  std::map<std::string, std::vector<std::string>> knobs;  // name, allowed values
  bool others_stay_free = false;                          // a word `...`
};

// "[a|b|c]" or "a".
Result<std::vector<std::string>> split_values(std::string_view word, std::string_view text) {
  const bool is_list = text.starts_with('[');
  if (is_list != text.ends_with(']')) {
    return fail(ErrorKind::kUsage, fmt::format("'{}' is neither a value nor a list", word),
                "a list of values is written name=[a|b|c]");
  }
  if (is_list) text = text.substr(1, text.size() - 2);
  std::vector<std::string> values;
  for (;;) {
    const auto bar = is_list ? text.find('|') : std::string_view::npos;
    const std::string value(text.substr(0, bar));
    if (value.empty()) {
      return fail(ErrorKind::kUsage, fmt::format("a value is missing in '{}'", word),
                  "write name=value or name=[a|b|c]");
    }
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    if (bar == std::string_view::npos) return values;
    text.remove_prefix(bar + 1);
  }
}

Result<Expression> parse(std::string_view text) {
  Expression expression;
  for (const std::string& word : FIEL_TRY(split_words(text))) {
    if (word == "...") {
      expression.others_stay_free = true;
      continue;
    }
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(ErrorKind::kUsage, fmt::format("'{}' in --routes is no restriction", word),
                  "write name=value, name=[a|b|c], or ... to leave the other knobs free");
    }
    const std::string name = word.substr(0, equals);
    auto values = FIEL_TRY(split_values(word, std::string_view(word).substr(equals + 1)));
    const bool is_new =
        name == "engine" ? expression.engines.empty() : !expression.knobs.contains(name);
    if (!is_new) {
      return fail(ErrorKind::kUsage, fmt::format("'{}' is restricted twice in --routes", name),
                  "put all its values into one list: name=[a|b|c]");
    }
    (name == "engine" ? expression.engines : expression.knobs[name]) = std::move(values);
  }
  return expression;
}

// Every name must mean something in at least one engine, and every value in one that has the knob.
Result<> check_names(const std::vector<EngineSpace>& engines, const Expression& expression) {
  std::vector<std::string> known;
  for (const EngineSpace& engine : engines) {
    for (const std::string& name : knob_names(engine)) {
      if (std::ranges::find(known, name) == known.end()) known.push_back(name);
    }
  }
  for (const auto& [name, values] : expression.knobs) {
    if (std::ranges::find(known, name) == known.end()) {
      return fail(ErrorKind::kUsage, fmt::format("no knob '{}' in this space", name),
                  did_you_mean(name, known));
    }
    Knob merged{.name = name, .values = {}, .default_value = {}, .help = {}, .only_if = {}};
    for (const EngineSpace& engine : engines) {
      for (const Knob& knob : engine.knobs) {
        if (knob.name != name) continue;
        merged.values.insert(merged.values.end(), knob.values.begin(), knob.values.end());
      }
    }
    for (const std::string& value : values) {
      if (std::ranges::find(merged.values, value) == merged.values.end()) {
        return unknown_value(value, merged);
      }
    }
  }
  return {};
}

enum class Fit { kFits, kLacksValues };

Fit restrict_engine(EngineSpace& engine, const Expression& expression) {
  for (Knob& knob : engine.knobs) {
    const auto named = expression.knobs.find(knob.name);
    if (named != expression.knobs.end()) {
      std::erase_if(knob.values, [&](const std::string& value) {
        return std::ranges::find(named->second, value) == named->second.end();
      });
      if (knob.values.empty()) return Fit::kLacksValues;
    } else if (!expression.others_stay_free) {
      knob.values = {knob.default_value};
    }
  }
  return Fit::kFits;
}

// A named knob whose condition cannot hold any more would be swept without effect.
Result<> check_conditions(const EngineSpace& engine, const Expression& expression) {
  for (const Knob& knob : engine.knobs) {
    if (!expression.knobs.contains(knob.name)) continue;
    for (const Condition& condition : knob.only_if) {
      const auto other = std::ranges::find(engine.knobs, condition.knob, &Knob::name);
      if (other == engine.knobs.end()) continue;
      const bool can_hold = std::ranges::any_of(other->values, [&](const std::string& value) {
        return std::ranges::find(condition.values, value) != condition.values.end();
      });
      if (can_hold) continue;
      return fail(
          ErrorKind::kUsage,
          fmt::format("knob {} of engine {} would not count in these routes", knob.name,
                      engine.engine),
          fmt::format("it counts only with {}: add that to --routes", describe_conditions(knob)));
    }
  }
  return {};
}

}  // namespace

Result<Space> restrict_space(const Space& space, std::string_view text) {
  const Expression expression = FIEL_TRY(parse(text));
  Space restricted;
  for (const std::string& name : expression.engines) {
    if (space.find_engine(name) == nullptr) return unknown_engine(name, space);
  }
  for (const EngineSpace& engine : space.engines()) {
    const bool is_wanted =
        expression.engines.empty() ||
        std::ranges::find(expression.engines, engine.engine) != expression.engines.end();
    if (is_wanted) restricted.engines_.push_back(engine);
  }
  FIEL_TRY(check_names(restricted.engines_, expression));
  std::erase_if(restricted.engines_, [&](EngineSpace& engine) {
    return restrict_engine(engine, expression) == Fit::kLacksValues;
  });
  for (const EngineSpace& engine : restricted.engines_) {
    FIEL_TRY(check_conditions(engine, expression));
  }
  bool is_empty = !(restricted.size() >= 1.0);
  if (const auto* listed = space.listed()) {
    std::vector<BuildRoute> kept;
    std::ranges::copy_if(*listed, std::back_inserter(kept), [&](const BuildRoute& route) { return restricted.validate(route).has_value(); });
    is_empty = kept.empty();
    if (!is_empty) restricted = FIEL_TRY(restricted.only(std::move(kept)));
  }
  if (is_empty) {
    return fail(ErrorKind::kUsage, fmt::format("no build route satisfies '{}'", text),
                "allow more values, or other engines");
  }
  return restricted;
}

}  // namespace fiel
