// What a tensor is to us: a dtype, a shape and bytes. Arithmetic on it lives in gate/, engines in
// worker/.
//
//   bytes   little-endian, C order, no padding; size = element_size(dtype) x product of shape
//   shape   may be empty (a scalar) or hold zeros (no elements)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fiel {

enum class DType {
  kFloat64,
  kFloat32,
  kFloat16,
  kBFloat16,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kUInt64,
  kUInt32,
  kUInt16,
  kUInt8,
  kBool,
};

/// "float32" and so on, as the protocol and the contract spell them.
std::string_view to_string(DType dtype);
std::optional<DType> parse_dtype(std::string_view name);
std::size_t element_size(DType dtype);
bool is_floating(DType dtype);

using Shape = std::vector<std::int64_t>;
std::string to_string(const Shape& shape);  // "[1, 3, 48, 320]"

/// Number of elements; nullopt for negative dimensions or a product above 2^48 (no honest tensor
/// here).
std::optional<std::int64_t> element_count(const Shape& shape);

struct TensorView {
  DType dtype;
  const Shape& shape;
  std::span<const std::byte> bytes;
};

struct Tensor {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::vector<std::byte> bytes;

  TensorView view() const { return {dtype, shape, bytes}; }
};

/// Element i as a double: exact for all dtypes but 64-bit integers beyond 2^53 (compare those as
/// integers).
double element(const TensorView& tensor, std::int64_t index);
/// Element i of an integer or bool tensor, exact; uint64 above INT64_MAX wraps (equality still
/// holds).
std::int64_t integer_element(const TensorView& tensor, std::int64_t index);

double half_to_double(std::uint16_t bits);
double bfloat16_to_double(std::uint16_t bits);

}  // namespace fiel
