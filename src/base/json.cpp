#include "base/json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace fiel {
namespace {

constexpr int kMaxDepth = 64;  // our own documents nest to about 8; deeper input is hostile

// Nesting is checked before parsing, since a parser that recurses may run out of stack first.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    }
    if (c == ']' || c == '}') --depth;
  }
  return false;
}

Result<const Json*> find(const Json& object, std::string_view key) {
  if (!object.is_object()) return fail(ErrorKind::kProtocol, "not an object");
  const auto found = object.find(key);
  if (found == object.end()) return fail(ErrorKind::kProtocol, fmt::format("\"{}\" is missing", key));
  return &*found;
}

std::unexpected<Error> wrong_type(std::string_view key, std::string_view wanted, const Json& got) {
  return fail(ErrorKind::kProtocol,
              fmt::format("\"{}\" is {}, not {}", key, got.type_name(), wanted));
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
  if (too_deep(text)) return fail(ErrorKind::kProtocol, "JSON nested deeper than 64 levels");
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    return fail(ErrorKind::kProtocol, fmt::format("not JSON: {}", error.what()));
  }
}

std::string dump_json(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::string> get_string(const Json& object, std::string_view key) {
  const Json* value = FIEL_TRY(find(object, key));
  if (!value->is_string()) return wrong_type(key, "a string", *value);
  return value->get<std::string>();
}

Result<std::int64_t> get_int(const Json& object, std::string_view key) {
  const Json* value = FIEL_TRY(find(object, key));
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX) {
    return wrong_type(key, "a 64-bit integer", *value);
  }
  if (!value->is_number_integer()) return wrong_type(key, "an integer", *value);
  return value->get<std::int64_t>();
}

Result<double> get_number(const Json& object, std::string_view key) {
  const Json* value = FIEL_TRY(find(object, key));
  if (!value->is_number()) return wrong_type(key, "a number", *value);
  const double number = value->get<double>();
  if (!std::isfinite(number)) return wrong_type(key, "a finite number", *value);
  return number;
}

Result<std::vector<std::string>> get_strings(const Json& object, std::string_view key) {
  const Json* value = FIEL_TRY(find(object, key));
  if (!value->is_array()) return wrong_type(key, "a list of strings", *value);
  std::vector<std::string> strings;
  for (const Json& item : *value) {
    if (!item.is_string()) return wrong_type(key, "a list of strings", item);
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

std::string text_or(const Json& object, std::string_view key, std::string_view otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string(otherwise);
}

double number_or(const Json& object, std::string_view key, double otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

const Json& object_or_empty(const Json& object, std::string_view key) {
  static const Json empty = Json::object();
  if (!object.is_object()) return empty;
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : empty;
}

}  // namespace fiel
