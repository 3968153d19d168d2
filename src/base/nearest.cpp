#include "base/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace fiel {
namespace {

constexpr std::size_t kMaxWord =
    200;  // the work grows with the square, and no name of ours is that long

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Optimal string alignment: Levenshtein's distance with swapped neighbours counted once.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = 0;
  if (word.size() > kMaxWord) return best;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kMaxWord) continue;
    const std::size_t found = distance(word, candidate);
    const std::size_t allowed =
        std::max<std::size_t>(2, std::max(word.size(), candidate.size()) / 3);
    if (found > allowed || found >= std::max(word.size(), candidate.size())) continue;
    if (!best || found < best_distance) {
      best = candidate;
      best_distance = found;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  if (const auto found = nearest(word, candidates))
    return fmt::format("did you mean '{}'?", *found);
  if (candidates.empty()) return "nothing is known here";
  return fmt::format("known are: {}", fmt::join(candidates, ", "));
}

}  // namespace fiel
