// Tensors and rules for this room's tests and the proofs. Not for the product.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/result.h"
#include "contract/contract.h"
#include "gate/compare.h"
#include "gate/elements.h"
#include "model/tensor.h"

namespace fiel::testing {

inline constexpr std::array kAllDTypes{
    DType::kFloat64, DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kInt64,
    DType::kInt32,   DType::kInt16,   DType::kInt8,    DType::kUInt64,   DType::kUInt32,
    DType::kUInt16,  DType::kUInt8,   DType::kBool};

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Exact for values that float16 can hold; others are cut.
inline std::uint16_t to_half(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  if (std::isnan(value)) return 0x7E00;
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | 0x7C00U);
  const int exponent = static_cast<int>((bits >> 23) & 0xFFU) - 127 + 15;
  if (exponent <= 0) return sign;
  return static_cast<std::uint16_t>(sign | (exponent << 10) | ((bits >> 13) & 0x3FFU));
}

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(value));
}

inline void append_as(std::vector<std::byte>& bytes, DType dtype, double x) {
  switch (dtype) {
    case DType::kFloat64: return append(bytes, x);
    case DType::kFloat32: return append(bytes, static_cast<float>(x));
    case DType::kFloat16: return append(bytes, to_half(x));
    case DType::kBFloat16:
      return append(bytes, static_cast<std::uint16_t>(
                               std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16));
    case DType::kInt64: return append(bytes, static_cast<std::int64_t>(x));
    case DType::kInt32: return append(bytes, static_cast<std::int32_t>(x));
    case DType::kInt16: return append(bytes, static_cast<std::int16_t>(x));
    case DType::kInt8: return append(bytes, static_cast<std::int8_t>(x));
    case DType::kUInt64: return append(bytes, static_cast<std::uint64_t>(x));
    case DType::kUInt32: return append(bytes, static_cast<std::uint32_t>(x));
    case DType::kUInt16: return append(bytes, static_cast<std::uint16_t>(x));
    case DType::kUInt8: return append(bytes, static_cast<std::uint8_t>(x));
    case DType::kBool: return append(bytes, static_cast<std::uint8_t>(x != 0));
  }
}

inline Tensor make_tensor(DType dtype, Shape shape, const std::vector<double>& values) {
  Tensor tensor{dtype, std::move(shape), {}};
  for (const double x : values) append_as(tensor.bytes, dtype, x);
  FIEL_CHECK(element_count(tensor.shape) == static_cast<std::int64_t>(values.size()));
  return tensor;
}

inline constexpr std::array kAllMetrics{
    TensorMetric::kMaxAbs, TensorMetric::kMaxRel, TensorMetric::kAllclose,       TensorMetric::kL2,
    TensorMetric::kCosine, TensorMetric::kSqnr,   TensorMetric::kArgmaxAgreement};

/// A rule for output y so wide that only what is forbidden under every rule can fail it.
inline TensorRule widest(TensorMetric metric) {
  TensorRule rule;
  rule.output = "y";
  rule.metric = metric;
  if (metric == TensorMetric::kAllclose) {
    rule.rtol = 1e300;
  } else if (higher_is_nearer(metric)) {
    rule.min = -kInfinity;
  } else {
    rule.max = kInfinity;
  }
  return rule;
}

inline Tensor floats(const std::vector<double>& values) {
  return make_tensor(DType::kFloat32, {1, static_cast<std::int64_t>(values.size())}, values);
}

inline Tensor integers(const std::vector<std::int64_t>& values) {
  Tensor tensor{DType::kInt64, {static_cast<std::int64_t>(values.size())}, {}};
  for (const std::int64_t x : values) append(tensor.bytes, x);
  return tensor;
}

}  // namespace fiel::testing
