#include "replay/score.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace fiel {
namespace {

constexpr double kStart = 0.5, kEnd = 0.96;  // parts of the way from the median to the optimum, as published
constexpr int kPoints = 1000;

}  // namespace

Yardstick::Yardstick(const Recording& recording) {
  double seconds = 0;
  for (const auto& [route, recorded] : recording.records) {
    seconds += recorded.seconds();
    if (const auto value = recorded.found()) worst_to_best_.push_back(*value);
  }
  FIEL_CHECK(!worst_to_best_.empty());
  std::ranges::sort(worst_to_best_, std::greater<>());
  seconds_per_draw_ = seconds / static_cast<double>(worst_to_best_.size());
  const double start = part_of_the_way(kStart);
  start_seconds_ = seconds_per_draw_ * start;
  end_seconds_ = seconds_per_draw_ * std::max(start + 1, part_of_the_way(kEnd));
}

double Yardstick::random_after(double draws) const {
  const auto count = static_cast<double>(worst_to_best_.size());
  const double index = std::clamp(std::round(draws * (count + 1) / (draws + 1)), 1.0, count);
  return worst_to_best_[static_cast<std::size_t>(index) - 1];
}

double Yardstick::draws_to(double value) const {
  const auto reached = std::ranges::find_if(worst_to_best_, [&](double one) { return one <= value; });
  const auto index = static_cast<double>(reached - worst_to_best_.begin()) + 1;
  const auto count = static_cast<double>(worst_to_best_.size());
  return std::ceil(std::min(index, count) / (count + 1 - std::min(index, count)));
}

double Yardstick::score(std::span<const Improvement> improvements) const {
  double sum = 0, points = 0, found = worst();
  std::size_t next = 0;
  for (int point = 0; point < kPoints; ++point) {
    const double seconds = start_seconds_ + (end_seconds_ - start_seconds_) * point / (kPoints - 1);
    for (; next < improvements.size() && improvements[next].seconds <= seconds; ++next) found = improvements[next].value;
    const double random = random_after(seconds / seconds_per_draw_);
    if (!(random > optimum())) continue;  // nothing left to be better at
    sum += (random - found) / (random - optimum());
    points += 1;
  }
  return points > 0 ? sum / points : 1.0;
}

}  // namespace fiel
