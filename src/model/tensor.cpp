#include "model/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace fiel {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are little-endian in files and are read in place");

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::size_t size;
};

constexpr std::array kDTypes{
    DTypeRow{DType::kFloat64, "float64", 8}, DTypeRow{DType::kFloat32, "float32", 4},
    DTypeRow{DType::kFloat16, "float16", 2}, DTypeRow{DType::kBFloat16, "bfloat16", 2},
    DTypeRow{DType::kInt64, "int64", 8},     DTypeRow{DType::kInt32, "int32", 4},
    DTypeRow{DType::kInt16, "int16", 2},     DTypeRow{DType::kInt8, "int8", 1},
    DTypeRow{DType::kUInt64, "uint64", 8},   DTypeRow{DType::kUInt32, "uint32", 4},
    DTypeRow{DType::kUInt16, "uint16", 2},   DTypeRow{DType::kUInt8, "uint8", 1},
    DTypeRow{DType::kBool, "bool", 1},
};

constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;

const DTypeRow& row(DType dtype) {
  const auto& found = kDTypes[static_cast<std::size_t>(dtype)];
  FIEL_CHECK(found.dtype == dtype);
  return found;
}

template <class T>
T load(const TensorView& tensor, std::int64_t index) {
  const auto offset = static_cast<std::size_t>(index) * sizeof(T);
  FIEL_CHECK(index >= 0 && offset + sizeof(T) <= tensor.bytes.size());
  T value;
  std::memcpy(&value, tensor.bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace

std::string_view to_string(DType dtype) { return row(dtype).name; }

std::optional<DType> parse_dtype(std::string_view name) {
  const auto found = std::ranges::find(kDTypes, name, &DTypeRow::name);
  if (found == kDTypes.end()) return std::nullopt;
  return found->dtype;
}

std::size_t element_size(DType dtype) { return row(dtype).size; }

bool is_floating(DType dtype) {
  return dtype == DType::kFloat64 || dtype == DType::kFloat32 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::optional<std::int64_t> element_count(const Shape& shape) {
  // Zeros are looked for last: [-1, 0] is not a shape, and [2^40, 2^40, 0] holds nothing.
  bool empty = false;
  bool too_many = false;
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) empty = true;
    if (size > 0 && count > kMaxElements / size) too_many = true;
    if (!too_many && size > 0) count *= size;
  }
  if (empty) return 0;
  if (too_many) return std::nullopt;
  return count;
}

double half_to_double(std::uint16_t bits) {
  const bool negative = (bits & 0x8000U) != 0;
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  double magnitude = 0.0;
  if (exponent == 0x1F) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  }
  return negative ? -magnitude : magnitude;
}

double bfloat16_to_double(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

double element(const TensorView& tensor, std::int64_t index) {
  switch (tensor.dtype) {
    case DType::kFloat64:
      return load<double>(tensor, index);
    case DType::kFloat32:
      return static_cast<double>(load<float>(tensor, index));
    case DType::kFloat16:
      return half_to_double(load<std::uint16_t>(tensor, index));
    case DType::kBFloat16:
      return bfloat16_to_double(load<std::uint16_t>(tensor, index));
    case DType::kUInt64:
      return static_cast<double>(load<std::uint64_t>(tensor, index));
    case DType::kInt64:
    case DType::kInt32:
    case DType::kInt16:
    case DType::kInt8:
    case DType::kUInt32:
    case DType::kUInt16:
    case DType::kUInt8:
    case DType::kBool:
      return static_cast<double>(integer_element(tensor, index));
  }
  FIEL_CHECK(false);
  return 0.0;
}

std::int64_t integer_element(const TensorView& tensor, std::int64_t index) {
  switch (tensor.dtype) {
    case DType::kInt64:
      return load<std::int64_t>(tensor, index);
    case DType::kInt32:
      return load<std::int32_t>(tensor, index);
    case DType::kInt16:
      return load<std::int16_t>(tensor, index);
    case DType::kInt8:
      return load<std::int8_t>(tensor, index);
    case DType::kUInt64:
      return static_cast<std::int64_t>(load<std::uint64_t>(tensor, index));
    case DType::kUInt32:
      return load<std::uint32_t>(tensor, index);
    case DType::kUInt16:
      return load<std::uint16_t>(tensor, index);
    case DType::kUInt8:
      return load<std::uint8_t>(tensor, index);
    case DType::kBool:
      return load<std::uint8_t>(tensor, index) != 0 ? 1 : 0;
    case DType::kFloat64:
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBFloat16:
      break;
  }
  FIEL_CHECK(!is_floating(tensor.dtype));
  return 0;
}

}  // namespace fiel
