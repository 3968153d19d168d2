// Which range of an activation should 8 bits cover? From its extremes, or from a histogram of its values.
//
// A range that leaves out the rarest values rounds all others less. How much to leave out:
//   percentile     an equal share of the values at both ends (onnxruntime.quantization's PercentileCalibrater)
//   squared error  the smallest mean of (x - Q(x))^2, rounding and clipping together (Banner et al. 2019, ACIQ; Nagel et al.
//                  2021, "A White Paper on Neural Network Quantization", 3.1)
//   entropy        the smallest Kullback-Leibler divergence of the distribution of Q(x) from that of x (Migacz 2017, "8-bit
//                  Inference with TensorRT")
// Pure functions. Knows neither graphs nor data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace fiel {

struct Range {
  double low = 0;
  double high = 0;
};
using Ranges = std::map<std::string, Range>;  // by activation

/// uint8 numbers x = scale * (q - zero_point), which hold 0 exactly and reach from low to high at least.
struct UInt8Scale {
  float scale = 1;
  std::uint8_t zero_point = 0;
};
/// A range without extent (a constant activation) has scale |low|/255, or 1 at zero.
UInt8Scale uint8_scale(const Range& range);
/// int8 numbers x = scale * q from -127 to 127, which reach to low and to high.
float int8_scale(const Range& range);

/// Counts in bins of equal width over a range that holds 0. What lies outside counts in the outermost bin.
class Histogram {
 public:
  static constexpr std::size_t kBins = 2048;
  explicit Histogram(const Range& range);

  /// Values that are not finite are not counted.
  void add(std::span<const float> values);

  const Range& range() const { return range_; }
  double total() const { return total_; }

  /// `share` of the values lies inside, half of the rest below and half above; 0 is inside too.
  Range percentile(double share) const;
  Range least_squared_error() const;
  Range least_divergence() const;

 private:
  double edge(std::size_t bin) const;    // where it begins
  double centre(std::size_t bin) const;
  double squared_error(const Range& range) const;
  double divergence(std::size_t begin, std::size_t end) const;

  Range range_;
  double width_ = 0;  // of a bin
  std::vector<double> counts_;
  double total_ = 0;
};

}  // namespace fiel
