// Elements of any dtype as C++ numbers, for the inner loops of this room. Knows nothing of shapes.
// Loads go through memcpy: bytes of a file in memory have no C++ type, and compilers turn it into plain loads.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/result.h"
#include "model/tensor.h"

namespace fiel::detail {

/// float16 by table: ldexp per element would cost more than the comparison itself.
inline float half_to_float(std::uint16_t bits) {
  static const std::vector<float> table = [] {
    std::vector<float> values(1U << 16);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(half_to_double(static_cast<std::uint16_t>(i)));
    }
    return values;
  }();
  return table[bits];
}

struct Half {
  using Stored = std::uint16_t;
  using Value = float;
  static float value(Stored stored) { return half_to_float(stored); }
};
struct BFloat16 {
  using Stored = std::uint16_t;
  using Value = float;
  static float value(Stored stored) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(stored) << 16);
  }
};
struct Bool {  // any byte but zero is true, as C and NumPy have it
  using Stored = std::uint8_t;
  using Value = std::uint8_t;
  static std::uint8_t value(Stored stored) { return stored != 0 ? 1 : 0; }
};
template <class T>
struct Plain {
  using Stored = T;
  using Value = T;
  static T value(Stored stored) { return stored; }
};

/// Reads element i of `bytes`, which holds elements of kind K.
template <class K>
typename K::Value load(const std::byte* bytes, std::size_t i) {
  typename K::Stored stored;
  std::memcpy(&stored, bytes + i * sizeof(stored), sizeof(stored));
  return K::value(stored);
}

/// Calls `use` with an object of the kind that `dtype` names.
template <class F>
auto with_kind(DType dtype, F&& use) {
  switch (dtype) {
    case DType::kFloat64: return use(Plain<double>{});
    case DType::kFloat32: return use(Plain<float>{});
    case DType::kFloat16: return use(Half{});
    case DType::kBFloat16: return use(BFloat16{});
    case DType::kInt64: return use(Plain<std::int64_t>{});
    case DType::kInt32: return use(Plain<std::int32_t>{});
    case DType::kInt16: return use(Plain<std::int16_t>{});
    case DType::kInt8: return use(Plain<std::int8_t>{});
    case DType::kUInt64: return use(Plain<std::uint64_t>{});
    case DType::kUInt32: return use(Plain<std::uint32_t>{});
    case DType::kUInt16: return use(Plain<std::uint16_t>{});
    case DType::kUInt8: return use(Plain<std::uint8_t>{});
    case DType::kBool: return use(Bool{});
  }
  FIEL_CHECK(false);
  return use(Plain<float>{});
}

}  // namespace fiel::detail
