// Other precisions of an ONNX model, made from its graph: which nodes could run in 8-bit integers, the model that observes
// the ranges of their inputs, and the model in which they do.
//
// Static quantisation with QuantizeLinear/DequantizeLinear pairs (Jacob et al. 2018; ONNX operators of those names):
// activations uint8, asymmetric, one scale a tensor; weights int8, symmetric, one scale an output channel; bias stays as it
// is. Engines fuse the pairs into integer kernels, or compute the same in float. Knows no engine, no data, no accuracy; hides
// protobuf.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fiel {

/// A node that can be quantised: Conv, MatMul or Gemm with constant float32 weights.
struct Region {
  std::string name;        // the node's, or its first output's where it has none
  std::string op;
  std::string activation;  // the tensor whose range is to be known
};

/// A node of those kinds that can't be.
struct LeftOut {
  std::string name;
  std::string why;
};

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

struct Int8Choice {
  std::set<std::string> regions;  // by name; those not named stay in float
  int weight_bits = 8;            // 7 keeps sums of two products inside 16 bits, where kernels of older CPUs saturate
};

class Rewriter {
 public:
  /// kContract, naming node and reason, where the whole model can't be rewritten: weights in other files, an opset below 11,
  /// control flow, an operator that opset 13 has changed and that we do not convert.
  static Result<Rewriter> open(const std::filesystem::path& model);

  Rewriter(Rewriter&&) noexcept;
  ~Rewriter();

  const std::vector<Region>& regions() const;  // in the graph's order
  const std::vector<LeftOut>& left_out() const;

  /// A model with the same inputs whose outputs are the smallest and the largest element of each region's activation and the
  /// mean of its elements' squares, float32 scalars: see observed_low() and its kin.
  Result<> write_observer(const std::filesystem::path& file) const;
  /// Names of the observer's outputs for the activation of regions()[i].
  std::string observed_low(std::size_t i) const;
  std::string observed_high(std::size_t i) const;
  std::string observed_power(std::size_t i) const;

  /// What rounding adds, as a share of the power: of the weights of regions()[i], sum of (w - scale q)^2 / sum of w^2; of an
  /// activation of this range and power, scale^2 / 12 / power (a uniform rounding error). Both are proxies: good to rank by.
  double weight_noise(std::size_t i, int weight_bits) const;
  static double activation_noise(const Range& range, double power);

  /// The model with the chosen regions in 8 bits; inputs, outputs, names and metadata are kept, the opset becomes 13 or
  /// stays above. FIEL_CHECKs that each chosen region's activation has a range.
  Result<> write_int8(const std::filesystem::path& file, const Ranges& ranges, const Int8Choice& choice) const;

 private:
  struct Impl;
  explicit Rewriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fiel
