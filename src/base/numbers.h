// All of a text as one number.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace fiel {

/// Nothing where the text holds anything else too, blanks included, or T can't hold the number.
template <class T>
std::optional<T> number_from(std::string_view text) {
  T number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace fiel
