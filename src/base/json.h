// JSON at our borders: parsing that never throws, and getters whose errors name the key.
// Objects keep their keys sorted, so dump() of equal values is equal text (digests rely on it).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fiel {

using Json = nlohmann::json;

/// Parses one document; nothing may follow it. Depth is limited to 64, and invalid UTF-8 is an error.
Result<Json> parse_json(std::string_view text);

/// Compact text. Invalid UTF-8 inside strings is replaced, NaN and infinities become null.
std::string dump_json(const Json& json);

// Getters for required keys. `object` that is no object, a missing key or another type is kProtocol.
Result<std::string> get_string(const Json& object, std::string_view key);
Result<std::int64_t> get_int(const Json& object, std::string_view key);
Result<double> get_number(const Json& object, std::string_view key);  // finite
Result<std::vector<std::string>> get_strings(const Json& object, std::string_view key);

/// What stands under `key`; `otherwise` where nothing does, or something of another type.
std::string text_or(const Json& object, std::string_view key, std::string_view otherwise);
double number_or(const Json& object, std::string_view key, double otherwise);

/// The object under `key`, or an empty one that lives for ever: safe to iterate over in a range-for, where a temporary
/// of value(...) would be gone.
const Json& object_or_empty(const Json& object, std::string_view key);

}  // namespace fiel
