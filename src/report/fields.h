// Reading what may or may not be in an event's body. A reader shows what is there: a key that is missing, null, or of
// another type counts as absent, and nothing here fails.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace fiel::fields {

std::string text(const Json& object, std::string_view key);  // "" where absent
std::optional<double> number(const Json& object, std::string_view key);
std::optional<std::int64_t> integer(const Json& object, std::string_view key);
std::vector<std::string> texts(const Json& object, std::string_view key);
std::vector<int> ids(const Json& object, std::string_view key);
std::map<std::string, std::string> text_map(const Json& object, std::string_view key);
std::map<std::string, std::int64_t> count_map(const Json& object, std::string_view key);
/// The member; null where absent.
const Json& member(const Json& object, std::string_view key);
/// JSON text of an object or a list; "" where absent or empty.
std::string json_text(const Json& object, std::string_view key);
/// The document that json_text() made; null for "".
Json parsed(std::string_view text);

}  // namespace fiel::fields
