#include "route/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/nearest.h"

namespace fiel {
namespace {

bool is_blank(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}

std::unexpected<Error> unmatched_brackets(std::string_view text) {
  return fail(ErrorKind::kUsage, fmt::format("brackets in '{}' do not match", text),
              "a list of values is written name=[a|b|c]");
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_brackets = false;
  for (const char letter : text) {
    if (letter == '[' || letter == ']') {
      if ((letter == '[') == in_brackets) return unmatched_brackets(text);
      in_brackets = letter == '[';
    }
    if (!is_blank(letter)) {
      word += letter;
    } else if (!in_brackets && !word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (in_brackets) return unmatched_brackets(text);
  if (!word.empty()) words.push_back(word);
  if (words.empty()) {
    return fail(ErrorKind::kUsage, "no word where a build route or an expression was expected",
                "write name=value, for example engine=openvino NUM_STREAMS=2");
  }
  return words;
}

std::vector<std::string> engine_words(const Space& space) {
  std::vector<std::string> words;
  for (const std::string& name : engine_names(space)) words.push_back("engine=" + name);
  return words;
}

std::vector<std::string> engine_names(const Space& space) {
  std::vector<std::string> names;
  for (const EngineSpace& engine : space.engines()) names.push_back(engine.engine);
  return names;
}

std::vector<std::string> knob_names(const EngineSpace& engine) {
  std::vector<std::string> names;
  for (const Knob& knob : engine.knobs) names.push_back(knob.name);
  return names;
}

std::string describe_conditions(const Knob& knob) {
  std::vector<std::string> parts;
  for (const Condition& condition : knob.only_if) {
    const std::string values = fmt::format("{}", fmt::join(condition.values, "|"));
    const bool is_list = condition.values.size() > 1;
    parts.push_back(condition.knob + "=" + (is_list ? "[" + values + "]" : values));
  }
  return fmt::format("{}", fmt::join(parts, " and "));
}

std::unexpected<Error> unknown_engine(std::string_view name, const Space& space) {
  return fail(ErrorKind::kUsage, fmt::format("no engine '{}' in this space", name),
              did_you_mean(name, engine_names(space)));
}

std::unexpected<Error> unknown_knob(std::string_view name, const EngineSpace& engine) {
  return fail(ErrorKind::kUsage, fmt::format("no knob '{}' in engine {}", name, engine.engine),
              did_you_mean(name, knob_names(engine)));
}

std::unexpected<Error> unknown_value(std::string_view value, const Knob& knob) {
  return fail(ErrorKind::kUsage, fmt::format("knob {} has no value '{}'", knob.name, value),
              did_you_mean(value, knob.values));
}

}  // namespace fiel
