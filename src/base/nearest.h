// Which known word was meant by a mistyped one: for every "did you mean".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fiel {

/// The candidate with the fewest inserted, left out, changed or swapped letters (upper and lower
/// case alike), the first of equals; none where more than a third of the longer word (at least two
/// letters) would have to change.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

/// "did you mean 'x'?", or "known are: a, b, c" where nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace fiel
