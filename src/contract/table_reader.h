// One table of a contract, read key by key. A wrong value is noted and the reading goes on, so that
// a user sees all that is wrong at once. Knows TOML values and messages, not what any key means.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "contract/toml.h"

namespace fiel {

/// "accuracy.task[0].max_drop" -> its line.
using KeyLines = std::map<std::string, int>;

/// "accuracy.task[0].max_drop" as people see it: without the index (the line says which), on one
/// line.
std::string shown_key(std::string_view key);

class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}
  void add(int line, std::string_view key, std::string_view message);
  /// All of them in the order of the file, one a line, as one kContract error.
  Result<> result() const;

 private:
  struct Problem {
    int line;
    std::string text;
  };
  std::string file_;
  std::vector<Problem> problems_;
};

class TableReader {
 public:
  struct Place {
    std::string path;  // "" at the top
    int line = 1;
  };
  TableReader(const TomlTable& table, Place place, Problems& problems, KeyLines& lines);

  // Each is nullopt when the key is absent or wrong; what is wrong has been noted.
  std::optional<std::string> text(std::string_view key);  // not empty
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t low, std::int64_t high);
  std::optional<std::int64_t> bytes(std::string_view key);  // > 0
  std::optional<double> seconds(std::string_view key);      // > 0
  /// `wanted` finishes "wants ..."; numbers for which `accept` does not hold are refused, NaN
  /// thereby too.
  std::optional<double> number(std::string_view key, std::string_view wanted,
                               const std::function<bool(double)>& accept);
  std::optional<std::vector<std::string>> texts(std::string_view key);
  std::optional<std::vector<std::int64_t>> integers(std::string_view key, std::int64_t low,
                                                    std::int64_t high);
  std::optional<TableReader> table(std::string_view key);
  std::vector<TableReader> tables(std::string_view key);  // [[key]]
  /// Tables under names that the user chose, as in [engines.NAME].
  std::vector<std::pair<std::string, TableReader>> named_tables();

  template <class T>
  struct Word {
    std::string_view word;
    T value;
  };
  template <class T, std::size_t kCount>
  std::optional<T> word(std::string_view key, const Word<T> (&words)[kCount]) {
    std::vector<std::string> known;
    for (const auto& entry : words) known.emplace_back(entry.word);
    const auto found = word_of(key, known);
    if (!found) return std::nullopt;
    return words[*found].value;
  }

  bool has(std::string_view key) const;
  const TomlValue* value(std::string_view key);  // counts as read
  std::vector<std::string> keys() const;
  /// Notes that a required key is absent; `hint` says what to write.
  void require(std::string_view key, std::string_view hint);
  void problem(std::string_view key,
               std::string_view message);  // at that key's line; at the table's for "" or absent
  std::string path_of(std::string_view key) const;
  const Place& place() const { return place_; }

  /// Notes every key that was not asked for, with the nearest one that was.
  void finish();

 private:
  /// A quantity above zero, written as text with its unit.
  template <class T>
  std::optional<T> quantity(std::string_view key, std::string_view wanted,
                            Result<T> (*parse)(std::string_view));
  void wrong_type(std::string_view key, std::string_view wanted, const TomlValue& found);
  std::optional<std::size_t> word_of(std::string_view key, const std::vector<std::string>& known);
  const TomlEntry* find(std::string_view key) const;

  const TomlTable* table_;
  Place place_;
  Problems* problems_;
  KeyLines* lines_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace fiel
