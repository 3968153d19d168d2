#include "route/build_route.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "route/space.h"
#include "route/words.h"

namespace fiel {
namespace {

Result<> take_word(const std::string& word, BuildRoute& route) {
  const auto equals = word.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) {
    return fail(ErrorKind::kUsage, fmt::format("'{}' in a build route is no setting", word),
                "write name=value, for example engine=openvino NUM_STREAMS=2");
  }
  const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
  const bool is_new = name == "engine" ? route.engine.empty() : !route.settings.contains(name);
  if (!is_new) {
    return fail(ErrorKind::kUsage, fmt::format("'{}' is set twice in a build route", name),
                "leave one of the two out");
  }
  (name == "engine" ? route.engine : route.settings[name]) = value;
  return {};
}

}  // namespace

std::string setting_or(const BuildRoute& route, std::string_view knob, std::string_view otherwise) {
  const auto set = route.settings.find(std::string(knob));
  return set == route.settings.end() ? std::string(otherwise) : set->second;
}

std::string to_string(const BuildRoute& route) {
  std::string text = "engine=" + route.engine;
  for (const auto& [knob, value] : route.settings) text += " " + knob + "=" + value;
  return text;
}

Result<BuildRoute> parse_route(std::string_view text, const Space& space) {
  BuildRoute route;
  for (const std::string& word : FIEL_TRY(split_words(text))) FIEL_TRY(take_word(word, route));
  if (route.engine.empty()) {
    if (space.engines().size() != 1) {
      return fail(ErrorKind::kUsage, fmt::format("build route '{}' names no engine", text),
                  fmt::format("add one of: {}", fmt::join(engine_words(space), ", ")));
    }
    route.engine = space.engines().front().engine;
  }
  FIEL_TRY(space.validate(route));
  const BuildRoute canonical = space.canonical(route);
  for (const auto& [name, value] : route.settings) {
    const Knob& knob = *space.find_knob(route.engine, name);
    if (value == knob.default_value || canonical.settings.contains(name)) continue;
    return fail(ErrorKind::kUsage,
                fmt::format("{}={} would not count in build route '{}'", name, value, text),
                name + " counts only with " + describe_conditions(knob));
  }
  return canonical;
}

}  // namespace fiel
