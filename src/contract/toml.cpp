#include "contract/toml.h"

#include <fmt/format.h>

#include <algorithm>

#include "contract/toml_library.h"

namespace fiel {
namespace {

constexpr std::size_t kMaxContractBytes = 1 << 20;  // a contract has a few kilobytes

TomlTable to_table(const toml::table& table);

// toml++ itself refuses values nested deeper than 256, so this recursion ends.
TomlValue to_value(const toml::node& node) {
  TomlValue value;
  value.line = static_cast<int>(node.source().begin.line);
  if (const auto* boolean = node.as_boolean()) value.data = boolean->get();
  if (const auto* integer = node.as_integer()) value.data = integer->get();
  if (const auto* number = node.as_floating_point()) value.data = number->get();
  if (const auto* text = node.as_string()) value.data = text->get();
  if (const auto* table = node.as_table()) value.data = to_table(*table);
  if (const auto* array = node.as_array()) {
    TomlArray items;
    for (const auto& item : *array) items.push_back(to_value(item));
    value.data = std::move(items);
  }
  return value;
}

TomlTable to_table(const toml::table& table) {
  TomlTable entries;
  for (const auto& [key, node] : table) {
    entries.push_back(
        {std::string(key.str()), to_value(node), static_cast<int>(key.source().begin.line)});
  }
  std::ranges::stable_sort(entries, {}, &TomlEntry::line);
  return entries;
}

}  // namespace

Result<TomlTable> parse_toml(std::string_view text, std::string_view file) {
  if (text.size() > kMaxContractBytes) {
    return fail(ErrorKind::kContract,
                fmt::format("{} has {} bytes: that is no contract", file, text.size()));
  }
  return to_table(FIEL_TRY(parse_toml_text(text, file)));
}

std::string describe(const TomlValue& value) {
  struct Describer {
    std::string operator()(TomlOther) const { return "a date or time"; }
    std::string operator()(bool boolean) const { return boolean ? "true" : "false"; }
    std::string operator()(std::int64_t integer) const {
      return fmt::format("the number {}", integer);
    }
    std::string operator()(double number) const { return fmt::format("the number {}", number); }
    std::string operator()(const std::string& text) const {
      return fmt::format("the text \"{}\"", text);
    }
    std::string operator()(const TomlArray&) const { return "a list"; }
    std::string operator()(const TomlTable&) const { return "a table"; }
  };
  return std::visit(Describer{}, value.data);
}

}  // namespace fiel
