#include "variant/ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace fiel {
namespace {

constexpr int kUInt8Steps = 255;
constexpr int kInt8Largest = 127;
constexpr std::size_t kLevels = 256;
// Each end is tried at so many places between half a per cent and all of its way from zero; two turns, since they depend on
// each other little.
constexpr int kPlaces = 64;
constexpr int kTurns = 2;

}  // namespace

UInt8Scale uint8_scale(const Range& range) {
  const double low = std::min(range.low, 0.0), high = std::max(range.high, 0.0);
  const double step = (high - low) / kUInt8Steps;
  if (!(step > 0) || !std::isnormal(static_cast<float>(step))) return {};
  return {.scale = static_cast<float>(step),
          .zero_point = static_cast<std::uint8_t>(std::clamp(std::nearbyint(-low / step), 0.0, 255.0))};
}

float int8_scale(const Range& range) {
  const double step = std::max(std::abs(range.low), std::abs(range.high)) / kInt8Largest;
  if (!(step > 0) || !std::isnormal(static_cast<float>(step))) return 1;
  return static_cast<float>(step);
}

Histogram::Histogram(const Range& range)
    : range_{std::min(range.low, 0.0), std::max(range.high, 0.0)},
      width_((range_.high - range_.low) / static_cast<double>(kBins)),
      counts_(kBins, 0.0) {}

void Histogram::add(std::span<const float> values) {
  if (!(width_ > 0)) return;
  const double per_unit = 1 / width_, last = static_cast<double>(kBins - 1);
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    counts_[static_cast<std::size_t>(std::clamp((value - range_.low) * per_unit, 0.0, last))] += 1;
    total_ += 1;
  }
}

double Histogram::edge(std::size_t bin) const { return range_.low + width_ * static_cast<double>(bin); }
double Histogram::centre(std::size_t bin) const { return range_.low + width_ * (static_cast<double>(bin) + 0.5); }

Range Histogram::percentile(double share) const {
  if (!(total_ > 0)) return range_;
  const double cut = (1 - share) / 2 * total_;
  std::size_t begin = 0, end = kBins;
  for (double below = counts_[begin]; below <= cut && begin + 1 < kBins; below += counts_[begin]) ++begin;
  for (double above = counts_[end - 1]; above <= cut && end > begin + 1; above += counts_[end - 1]) --end;
  return {std::min(edge(begin), 0.0), std::max(edge(end), 0.0)};
}

double Histogram::squared_error(const Range& range) const {
  const UInt8Scale to = uint8_scale(range);
  double sum = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    if (!(counts_[bin] > 0)) continue;
    const double x = centre(bin);
    const double q = std::clamp(std::nearbyint(x / to.scale) + to.zero_point, 0.0, static_cast<double>(kUInt8Steps));
    const double error = std::abs(x - to.scale * (q - to.zero_point));
    // Inside the range a bin's values are spread over it, and so are their errors: at least those of uniform rounding.
    const bool clipped = x < range.low || x > range.high;
    sum += counts_[bin] * (clipped ? error * error : std::max(error * error, static_cast<double>(to.scale) * to.scale / 12));
  }
  return sum;
}

Range Histogram::least_squared_error() const {
  if (!(total_ > 0)) return range_;
  Range best = range_;
  double least = squared_error(best);
  const auto try_range = [&](const Range& range) {
    const double error = squared_error(range);
    if (!(error < least)) return;
    least = error;
    best = range;
  };
  for (int turn = 0; turn < kTurns; ++turn) {
    for (double Range::* end : {&Range::low, &Range::high}) {
      for (int place = 1; place < kPlaces; ++place) {
        Range tried = best;
        tried.*end = range_.*end * place / kPlaces;
        if (range_.*end != 0) try_range(tried);
      }
    }
  }
  return best;
}

// Of the values in bins [begin, end), those outside counted at its ends, from the same over kLevels levels: each level's count is
// spread over those of its bins that hold any.
double Histogram::divergence(std::size_t begin, std::size_t end) const {
  std::vector<double> wanted(counts_.begin() + static_cast<std::ptrdiff_t>(begin), counts_.begin() + static_cast<std::ptrdiff_t>(end));
  const std::vector<double> inside = wanted;
  wanted.front() += std::accumulate(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(begin), 0.0);
  wanted.back() += std::accumulate(counts_.begin() + static_cast<std::ptrdiff_t>(end), counts_.end(), 0.0);
  const double inside_total = std::accumulate(inside.begin(), inside.end(), 0.0);
  if (!(inside_total > 0)) return std::numeric_limits<double>::infinity();
  double sum = 0;
  const std::size_t size = inside.size();
  for (std::size_t level = 0; level < kLevels; ++level) {
    const std::size_t from = level * size / kLevels, to = (level + 1) * size / kLevels;
    double count = 0;
    std::size_t held = 0;
    for (std::size_t bin = from; bin < to; ++bin) {
      count += inside[bin];
      held += wanted[bin] > 0 ? 1 : 0;
    }
    for (std::size_t bin = from; bin < to; ++bin) {
      if (!(wanted[bin] > 0)) continue;
      const double p = wanted[bin] / total_;
      // A level that holds nothing but what was clipped into it would be infinitely far away: a tiny share instead.
      const double q = std::max(count / static_cast<double>(held) / inside_total, 1e-12);
      sum += p * std::log(p / q);
    }
  }
  return sum;
}

// Both ends move towards zero by the same share: Migacz's search where all values have one sign.
Range Histogram::least_divergence() const {
  if (!(total_ > 0)) return range_;
  const auto zero = static_cast<std::size_t>(std::clamp(-range_.low / width_, 0.0, static_cast<double>(kBins)));
  const std::size_t below = zero, above = kBins - zero;
  Range best = range_;
  double least = std::numeric_limits<double>::infinity();
  constexpr std::size_t kSteps = kBins / kLevels * 16;  // from kLevels bins to all
  for (std::size_t step = kSteps / (kBins / kLevels); step <= kSteps; ++step) {
    const std::size_t begin = zero - below * step / kSteps, end = zero + above * step / kSteps;
    if (end - begin < kLevels) continue;
    const double now = divergence(begin, end);
    if (!(now < least)) continue;
    least = now;
    best = {std::min(edge(begin), 0.0), std::max(edge(end), 0.0)};
  }
  return best;
}

}  // namespace fiel
