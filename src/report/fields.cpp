#include "report/fields.h"

#include <nlohmann/json.hpp>

namespace fiel::fields {

const Json& member(const Json& object, std::string_view key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string text(const Json& object, std::string_view key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<double> number(const Json& object, std::string_view key) {
  const Json& value = member(object, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::optional<std::int64_t> integer(const Json& object, std::string_view key) {
  const Json& value = member(object, key);
  return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

std::vector<std::string> texts(const Json& object, std::string_view key) {
  std::vector<std::string> list;
  for (const Json& entry : member(object, key)) {
    if (entry.is_string()) list.push_back(entry.get<std::string>());
  }
  return list;
}

std::vector<int> ids(const Json& object, std::string_view key) {
  std::vector<int> list;
  for (const Json& entry : member(object, key)) {
    if (entry.is_number_integer()) list.push_back(entry.get<int>());
  }
  return list;
}

std::map<std::string, std::string> text_map(const Json& object, std::string_view key) {
  std::map<std::string, std::string> map;
  const Json& value = member(object, key);
  if (!value.is_object()) return map;
  for (const auto& [name, entry] : value.items()) {
    if (entry.is_string()) map[name] = entry.get<std::string>();
  }
  return map;
}

std::map<std::string, std::int64_t> count_map(const Json& object, std::string_view key) {
  std::map<std::string, std::int64_t> map;
  const Json& value = member(object, key);
  if (!value.is_object()) return map;
  for (const auto& [name, entry] : value.items()) {
    if (entry.is_number_integer()) map[name] = entry.get<std::int64_t>();
  }
  return map;
}

std::string json_text(const Json& object, std::string_view key) {
  const Json& value = member(object, key);
  return value.is_structured() && !value.empty() ? dump_json(value) : std::string();
}

Json parsed(std::string_view text) {
  auto json = parse_json(text);
  return json ? std::move(*json) : Json();
}

}  // namespace fiel::fields
