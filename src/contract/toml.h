// A TOML text as plain values that know their line, so that toml++ (slow to compile, throws) stays
// in one file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace fiel {

struct TomlEntry;
struct TomlValue;
using TomlArray = std::vector<TomlValue>;
using TomlTable = std::vector<TomlEntry>;  // in the order of the text
struct TomlOther {};                       // dates and times: no key of ours wants one

struct TomlValue {
  std::variant<TomlOther, bool, std::int64_t, double, std::string, TomlArray, TomlTable> data;
  int line = 0;
};

struct TomlEntry {
  std::string key;
  TomlValue value;
  int line = 0;  // of the key
};

/// Errors are "FILE:LINE: what toml++ says".
Result<TomlTable> parse_toml(std::string_view text, std::string_view file);

/// What a value is, for messages: the text "abc", the number 3, a table ...
std::string describe(const TomlValue& value);

}  // namespace fiel
