// Other precisions of an ONNX model, made from its graph: which nodes could run in 8-bit integers, the models that observe
// their inputs, and the models in other precisions.
//
//   static int8   QuantizeLinear/DequantizeLinear pairs (Jacob et al. 2018; ONNX operators of those names) around activations
//                 and a DequantizeLinear behind int8 weights, symmetric, one scale an output channel; bias stays as it is.
//                 Engines fuse the pairs into integer kernels, or compute the same in float                  static_int8.cpp
//   dynamic int8  products whose activations are quantised as they come: no ranges to know                   light_int8.cpp
//   weight int8   the weights alone                                                                          light_int8.cpp
//   half          float16 or bfloat16 between float32 inputs and outputs                                     half.cpp
//
// Knows no engine, no data, no accuracy; hides protobuf.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "variant/ranges.h"

namespace fiel {

/// A node that can be quantised: Conv, MatMul or Gemm with constant float32 weights.
struct Region {
  std::string name;          // the node's, or its first output's where it has none
  std::string op;
  std::string activation;    // the tensor whose range is to be known
  std::string result;        // what it gives, behind an activation function or an addition that is part of it
  std::int64_t weights = 0;  // how many
};

/// A node that stays as it is.
struct LeftOut {
  std::string name;
  std::string why;
};

/// Int8 symmetric activations waste a bit on what is never negative, but are some kernels' fast path.
enum class Activations { kUInt8, kInt8Symmetric };

/// What was seen of a region's activation, by input channel.
struct Channels {
  std::vector<double> means, lows, highs;
};

/// Whether what a region gives is rounded, too, where no other region reads it. OpenVINO's kernels need it not; ONNX Runtime has a
/// whole kernel in integers only where a QuantizeLinear follows, and else multiplies floats.
enum class Results { kFloat, kRounded };

enum class Bias { kAsItIs, kCorrected };
enum class Smoothing { kNone, kHalf };

struct Int8Choice {
  std::set<std::string> regions;  // by name; those not named stay in float
  int weight_bits = 8;            // 7 keeps sums of two products inside 16 bits, where kernels of older CPUs saturate
  Activations activations = Activations::kUInt8;
  Results results = Results::kFloat;      // kRounded: those that have a range
  Bias bias = Bias::kAsItIs;              // both need `channels`, by region; one without them stays as it is
  Smoothing smoothing = Smoothing::kNone;
  std::map<std::string, Channels> channels = {};
};

enum class HalfType { kFloat16, kBFloat16 };

class Rewriter {
 public:
  /// kContract, naming node and reason, where the whole model can't be rewritten: an opset below 11, control flow, sparse
  /// initialisers, functions of its own.
  static Result<Rewriter> open(const std::filesystem::path& model);

  Rewriter(Rewriter&&) noexcept;
  ~Rewriter();

  const std::vector<Region>& regions() const;      // in the graph's order
  const std::vector<LeftOut>& left_out() const;    // of the kinds that regions have
  std::vector<std::string> activations() const;    // of the regions, each once
  std::int64_t opset() const;                      // of what is written

  /// A model with the same inputs whose outputs tell of each region's activation the smallest and the largest element and the
  /// mean of its elements' squares, float32 scalars; its shape and that of the region's output; and, by the region's input
  /// channel (see input_channels), mean, smallest and largest element: see observed_low() and its kin. Of the model's own
  /// outputs those named in `kept` stay: the states of a recurrent model.
  Result<> write_observer(const std::filesystem::path& file, const std::set<std::string>& kept = {}) const;
  /// Names of the observer's outputs for regions()[i].
  std::string observed_low(std::size_t i) const;
  std::string observed_high(std::size_t i) const;
  std::string observed_power(std::size_t i) const;
  /// Of the region's result, where that is no region's activation.
  std::string observed_result_low(std::size_t i) const;
  std::string observed_result_high(std::size_t i) const;
  bool observes_result(std::size_t i) const;
  std::string observed_shape(std::size_t i) const;
  std::string observed_output_shape(std::size_t i) const;
  std::string observed_means(std::size_t i) const;
  std::string observed_lows(std::size_t i) const;
  std::string observed_highs(std::size_t i) const;

  /// Over which channels of its activation regions()[i] sums: a Conv's second axis, a product's last one. 0: not observed (a
  /// Gemm with a transposed input, a product with more than one matrix).
  std::int64_t input_channels(std::size_t i) const;
  /// Products that regions()[i] computes for an output of so many elements.
  double products(std::size_t i, double output_elements) const;

  /// A model whose outputs are these activations themselves, as vectors, the k-th under the name observed_value(k).
  Result<> write_values_observer(const std::filesystem::path& file, std::span<const std::string> activations,
                                 const std::set<std::string>& kept = {}) const;
  static std::string observed_value(std::size_t k);

  /// What rounding adds, as a share of the power: of the weights of regions()[i], sum of (w - scale q)^2 / sum of w^2; of an
  /// activation of this range and power, scale^2 / 12 / power (a uniform rounding error). Both are proxies: good to rank by.
  double weight_noise(std::size_t i, int weight_bits) const;
  static double activation_noise(const Range& range, double power);

  // Each writes the model in another precision; inputs, outputs, names and metadata are kept, the opset becomes 13 or stays
  // above. A model too large for one file gets <file>.data beside it.

  /// FIEL_CHECKs that each chosen region's activation has a range.
  Result<> write_int8(const std::filesystem::path& file, const Ranges& ranges, const Int8Choice& choice) const;
  /// MatMul, and Gemm without a transposed first input or factors; the rest is told.
  Result<std::vector<LeftOut>> write_dynamic_int8(const std::filesystem::path& file, int weight_bits) const;
  /// All regions' weights.
  Result<> write_weight_int8(const std::filesystem::path& file) const;
  /// Nodes whose operators do not take halves at this opset, or whose tensors' types the graph does not tell, stay in float32
  /// between Casts, and are told. Finite weights that float16 can't hold become its largest.
  Result<std::vector<LeftOut>> write_half(const std::filesystem::path& file, HalfType type) const;

 private:
  struct Impl;
  explicit Rewriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fiel
