#include "contract/table_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/nearest.h"
#include "base/units.h"

namespace fiel {
namespace {

constexpr std::size_t kMaxProblems = 50;

std::string join(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

std::string shown_key(std::string_view key) {
  std::string shown;
  bool in_index = false;
  for (const char c : key) {
    if (c == '[') in_index = true;
    if (!in_index) shown += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    if (c == ']') in_index = false;
  }
  return shown;
}

void Problems::add(int line, std::string_view key, std::string_view message) {
  const std::string where = key.empty() ? std::string() : shown_key(key) + ": ";
  std::string text = fmt::format("{}:{}: {}{}", file_, line, where, message);
  std::ranges::replace(text, '\n', ' ');  // a value from the file may hold one
  problems_.push_back({line, std::move(text)});
}

Result<> Problems::result() const {
  if (problems_.empty()) return {};
  auto sorted = problems_;
  std::ranges::stable_sort(sorted, {}, &Problem::line);
  std::string message;
  for (std::size_t i = 0; i < sorted.size() && i < kMaxProblems; ++i) {
    message += (i == 0 ? "" : "\n") + sorted[i].text;
  }
  if (sorted.size() > kMaxProblems)
    message += fmt::format("\nand {} more", sorted.size() - kMaxProblems);
  return fail(ErrorKind::kContract, message, "docs/contract.md explains every key");
}

TableReader::TableReader(const TomlTable& table, Place place, Problems& problems, KeyLines& lines)
    : table_(&table), place_(std::move(place)), problems_(&problems), lines_(&lines) {
  for (const auto& entry : table) lines[path_of(entry.key)] = entry.line;
}

std::string TableReader::path_of(std::string_view key) const {
  if (place_.path.empty()) return std::string(key);
  return key.empty() ? place_.path : fmt::format("{}.{}", place_.path, key);
}

const TomlEntry* TableReader::find(std::string_view key) const {
  const auto found = std::ranges::find(*table_, key, &TomlEntry::key);
  return found == table_->end() ? nullptr : &*found;
}

const TomlValue* TableReader::value(std::string_view key) {
  known_.emplace(key);
  const TomlEntry* entry = find(key);
  return entry == nullptr ? nullptr : &entry->value;
}

bool TableReader::has(std::string_view key) const { return find(key) != nullptr; }

std::vector<std::string> TableReader::keys() const {
  std::vector<std::string> keys;
  for (const auto& entry : *table_) keys.push_back(entry.key);
  return keys;
}

void TableReader::problem(std::string_view key, std::string_view message) {
  const TomlEntry* entry = key.empty() ? nullptr : find(key);
  problems_->add(entry == nullptr ? place_.line : entry->line, path_of(key), message);
}

void TableReader::require(std::string_view key, std::string_view hint) {
  known_.emplace(key);
  if (!has(key)) problem(key, fmt::format("is missing: {}", hint));
}

void TableReader::wrong_type(std::string_view key, std::string_view wanted,
                             const TomlValue& found) {
  problem(key, fmt::format("wants {}, found {}", wanted, describe(found)));
}

std::optional<std::string> TableReader::text(std::string_view key) {
  const TomlValue* found = value(key);
  if (found == nullptr) return std::nullopt;
  const auto* text = std::get_if<std::string>(&found->data);
  if (text == nullptr || text->empty() || text->find('\0') != std::string::npos) {
    wrong_type(key, "a text", *found);
    return std::nullopt;
  }
  return *text;
}

std::optional<bool> TableReader::boolean(std::string_view key) {
  const TomlValue* found = value(key);
  if (found == nullptr) return std::nullopt;
  if (const auto* boolean = std::get_if<bool>(&found->data)) return *boolean;
  wrong_type(key, "true or false", *found);
  return std::nullopt;
}

std::optional<std::int64_t> TableReader::integer(std::string_view key, std::int64_t low,
                                                 std::int64_t high) {
  const TomlValue* found = value(key);
  if (found == nullptr) return std::nullopt;
  const auto* integer = std::get_if<std::int64_t>(&found->data);
  if (integer != nullptr && *integer >= low && *integer <= high) return *integer;
  wrong_type(key,
             high == INT64_MAX ? fmt::format("a whole number of at least {}", low)
                               : fmt::format("a whole number from {} to {}", low, high),
             *found);
  return std::nullopt;
}

template <class T>
std::optional<T> TableReader::quantity(std::string_view key, std::string_view wanted,
                                       Result<T> (*parse)(std::string_view)) {
  const TomlValue* found = value(key);
  if (found == nullptr) return std::nullopt;
  const auto* text = std::get_if<std::string>(&found->data);
  if (text == nullptr) {
    wrong_type(key, wanted, *found);
    return std::nullopt;
  }
  const auto parsed = parse(*text);
  if (parsed && *parsed > 0) return *parsed;
  problem(key, fmt::format("wants {}, found {}{}", wanted, describe(*found),
                           parsed ? "" : ": " + parsed.error().message));
  return std::nullopt;
}

std::optional<std::int64_t> TableReader::bytes(std::string_view key) {
  return quantity(key, "a size above zero such as \"400 MiB\"", parse_bytes);
}

std::optional<double> TableReader::seconds(std::string_view key) {
  return quantity(key, "a time above zero such as \"8 ms\" or \"2 min\"", parse_duration);
}

std::optional<double> TableReader::number(std::string_view key, std::string_view wanted,
                                          const std::function<bool(double)>& accept) {
  const TomlValue* found = value(key);
  if (found == nullptr) return std::nullopt;
  std::optional<double> number;
  if (const auto* exact = std::get_if<double>(&found->data)) number = *exact;
  if (const auto* integer = std::get_if<std::int64_t>(&found->data))
    number = static_cast<double>(*integer);
  if (number && accept(*number)) return number;
  wrong_type(key, wanted, *found);
  return std::nullopt;
}

std::optional<std::vector<std::string>> TableReader::texts(std::string_view key) {
  constexpr std::string_view kWanted = "a list of texts such as [\"a\", \"b\"]";
  const TomlValue* found = value(key);
  if (found == nullptr) return std::nullopt;
  const auto* array = std::get_if<TomlArray>(&found->data);
  if (array == nullptr) {
    wrong_type(key, kWanted, *found);
    return std::nullopt;
  }
  std::vector<std::string> texts;
  for (const TomlValue& item : *array) {
    const auto* text = std::get_if<std::string>(&item.data);
    if (text == nullptr || text->empty() || text->find('\0') != std::string::npos) {
      problem(key, fmt::format("wants {}, found {} in it", kWanted, describe(item)));
      return std::nullopt;
    }
    texts.push_back(*text);
  }
  return texts;
}

std::optional<std::vector<std::int64_t>> TableReader::integers(std::string_view key,
                                                               std::int64_t low,
                                                               std::int64_t high) {
  const TomlValue* found = value(key);
  if (found == nullptr) return std::nullopt;
  const auto* array = std::get_if<TomlArray>(&found->data);
  if (array == nullptr) {
    wrong_type(key, "a list of whole numbers", *found);
    return std::nullopt;
  }
  std::vector<std::int64_t> integers;
  for (const TomlValue& item : *array) {
    const auto* integer = std::get_if<std::int64_t>(&item.data);
    if (integer == nullptr || *integer < low || *integer > high) {
      problem(key, low == INT64_MIN
                       ? fmt::format("wants whole numbers, found {} in it", describe(item))
                       : fmt::format("wants whole numbers of at least {}, found {} in it", low,
                                     describe(item)));
      return std::nullopt;
    }
    integers.push_back(*integer);
  }
  return integers;
}

std::optional<TableReader> TableReader::table(std::string_view key) {
  const TomlValue* found = value(key);
  if (found == nullptr) return std::nullopt;
  const auto* table = std::get_if<TomlTable>(&found->data);
  if (table == nullptr) {
    wrong_type(key, fmt::format("a table, written [{}]", shown_key(path_of(key))), *found);
    return std::nullopt;
  }
  return TableReader(*table, {path_of(key), find(key)->line}, *problems_, *lines_);
}

std::vector<TableReader> TableReader::tables(std::string_view key) {
  std::vector<TableReader> readers;
  const TomlValue* found = value(key);
  if (found == nullptr) return readers;
  const std::string wanted = fmt::format("tables, each under [[{}]]", shown_key(path_of(key)));
  const auto* array = std::get_if<TomlArray>(&found->data);
  if (array == nullptr) {
    wrong_type(key, wanted, *found);
    return readers;
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    const TomlValue& item = (*array)[i];
    if (const auto* table = std::get_if<TomlTable>(&item.data)) {
      readers.push_back(TableReader(*table, {fmt::format("{}[{}]", path_of(key), i), item.line},
                                    *problems_, *lines_));
    } else {
      wrong_type(key, wanted, item);
    }
  }
  return readers;
}

std::vector<std::pair<std::string, TableReader>> TableReader::named_tables() {
  std::vector<std::pair<std::string, TableReader>> readers;
  for (const auto& entry : *table_) {
    if (auto reader = table(entry.key)) readers.emplace_back(entry.key, std::move(*reader));
  }
  return readers;
}

std::optional<std::size_t> TableReader::word_of(std::string_view key,
                                                const std::vector<std::string>& known) {
  const TomlValue* found = value(key);
  if (found == nullptr) return std::nullopt;
  const auto* text = std::get_if<std::string>(&found->data);
  if (text != nullptr) {
    const auto position = std::ranges::find(known, *text);
    if (position != known.end()) return static_cast<std::size_t>(position - known.begin());
  }
  std::string message = fmt::format("wants one of {}, found {}", join(known), describe(*found));
  if (text != nullptr) {
    if (const auto near = nearest(*text, known))
      message += fmt::format(": did you mean '{}'?", *near);
  }
  problem(key, message);
  return std::nullopt;
}

void TableReader::finish() {
  const std::vector<std::string> known(known_.begin(), known_.end());
  for (const auto& entry : *table_) {
    if (!known_.contains(entry.key))
      problem(entry.key, "unknown key: " + did_you_mean(entry.key, known));
  }
}

}  // namespace fiel
