#include "gate/error_sums.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "gate/elements.h"

namespace fiel::detail {
namespace {

constexpr std::size_t kBlock = 1024;  // three blocks of doubles stay in the first-level cache

// Four doubles side by side: one instruction where the CPU has AVX2, two where it has pairs (every x86-64 and AArch64). The
// compiler may not reorder floating sums on its own; so the order is written down here, and results are the same on every
// machine with the same arithmetic. (AVX2 alone does not bring fused multiply-add, which would round differently.)
using Quad = double __attribute__((vector_size(32)));
using FloatQuad = float __attribute__((vector_size(16)));
using Mask = long long __attribute__((vector_size(32)));
constexpr std::size_t kLanes = 4;
constexpr Quad kZero{};
constexpr double kInf = std::numeric_limits<double>::infinity();

#if defined(__x86_64__) && defined(__GNUC__)
#define FIEL_FAST_LOOP __attribute__((target_clones("avx2", "default")))
#else
#define FIEL_FAST_LOOP
#endif
#define FIEL_INLINE __attribute__((always_inline)) inline

struct Block {
  std::array<double, kBlock> r;
  std::array<double, kBlock> a;
  std::array<double, kBlock> e;  // |a - r|
};

FIEL_INLINE void get(Quad& quad, const std::array<double, kBlock>& values, std::size_t i) {
  std::memcpy(&quad, values.data() + i, sizeof(quad));
}
FIEL_INLINE void put(std::array<double, kBlock>& values, std::size_t i, const Quad& quad) {
  std::memcpy(values.data() + i, &quad, sizeof(quad));
}
FIEL_INLINE void get_floats(Quad& quad, const std::byte* bytes, std::size_t i) {
  FloatQuad floats;
  std::memcpy(&floats, bytes + i * sizeof(float), sizeof(floats));
  quad = __builtin_convertvector(floats, Quad);
}

template <class T>
double distance(T r, T a) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::abs(static_cast<double>(a) - static_cast<double>(r));
  } else {
    using U = std::make_unsigned_t<T>;
    const U difference = a > r ? static_cast<U>(static_cast<U>(a) - static_cast<U>(r))
                               : static_cast<U>(static_cast<U>(r) - static_cast<U>(a));
    return static_cast<double>(difference);
  }
}

template <class K>
void fill(Block& block, const std::byte* reference, const std::byte* candidate, std::size_t begin,
          std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto r = load<K>(reference, begin + i);
    const auto a = load<K>(candidate, begin + i);
    block.r[i] = static_cast<double>(r);
    block.a[i] = static_cast<double>(a);
    block.e[i] = distance(r, a);
  }
}

// The same for float32, four at a time: most outputs are, and turning them into doubles is a third of all the work.
FIEL_FAST_LOOP void fill_floats(Block& block, const std::byte* reference, const std::byte* candidate, std::size_t count) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Quad r, a;
    get_floats(r, reference, i);
    get_floats(a, candidate, i);
    const Quad e = a - r;
    put(block.r, i, r);
    put(block.a, i, a);
    put(block.e, i, e < kZero ? -e : e);
  }
  for (; i < count; ++i) {
    const auto r = load<Plain<float>>(reference, i);
    const auto a = load<Plain<float>>(candidate, i);
    block.r[i] = static_cast<double>(r);
    block.a[i] = static_cast<double>(a);
    block.e[i] = distance(r, a);
  }
}

template <>
void fill<Plain<float>>(Block& block, const std::byte* reference, const std::byte* candidate,
                        std::size_t begin, std::size_t count) {
  fill_floats(block, reference + begin * sizeof(float), candidate + begin * sizeof(float), count);
}

void skip_non_finite_pairs(Block& block, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(block.r[i]) && !std::isfinite(block.a[i])) {
      block.r[i] = block.a[i] = block.e[i] = 0;
    }
  }
}

// Squares of float64 may leave the range of double; a power of two brings the largest element near 1 and cancels out
// of every ratio. All other dtypes are safe as they are: (3.4e38)^2 x 2^48 < 1.8e308.
double common_scale(const TensorView& reference, const TensorView& candidate, std::size_t count) {
  if (reference.dtype != DType::kFloat64) return 1;
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (const auto& tensor : {reference, candidate}) {
      const double x = std::abs(load<Plain<double>>(tensor.bytes.data(), i));
      if (std::isfinite(x)) largest = std::max(largest, x);
    }
  }
  if (largest == 0 || (largest > 1e-100 && largest < 1e100)) return 1;
  return std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1022, 1022));
}

double smallest_normal(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return std::numeric_limits<double>::min();
    case DType::kFloat32:
    case DType::kBFloat16: return static_cast<double>(std::numeric_limits<float>::min());
    case DType::kFloat16: return 0x1p-14;
    case DType::kInt64:
    case DType::kInt32:
    case DType::kInt16:
    case DType::kInt8:
    case DType::kUInt64:
    case DType::kUInt32:
    case DType::kUInt16:
    case DType::kUInt8:
    case DType::kBool: return 0.5;  // below every non-zero integer: a zero that became 3 is off by 6
  }
  return 0.5;
}

struct Constants {
  double scale, tiny, rtol, atol;
};

struct Sums {
  Quad rr{}, aa{}, ra{}, ee{};
};

FIEL_FAST_LOOP void add_squares(Sums& total, const Block& block, std::size_t count, double scale) {
  Sums sums = total;
  const Quad scales{scale, scale, scale, scale};
  for (std::size_t i = 0; i < count; i += kLanes) {
    Quad r, a, e;
    get(r, block.r, i);
    get(a, block.a, i);
    get(e, block.e, i);
    r *= scales;
    a *= scales;
    e *= scales;
    sums.rr += r * r;
    sums.aa += a * a;
    sums.ra += r * a;
    sums.ee += e * e;
  }
  total = sums;
}

struct Worst {
  Quad max_abs{}, max_rel{}, violations{};
};

FIEL_FAST_LOOP void add_errors(Worst& total, const Block& block, std::size_t count, const Constants& constants) {
  Worst worst = total;
  const Quad tiny{constants.tiny, constants.tiny, constants.tiny, constants.tiny};
  const Quad rtol{constants.rtol, constants.rtol, constants.rtol, constants.rtol};
  const Quad atol{constants.atol, constants.atol, constants.atol, constants.atol};
  const Quad one{1.0, 1.0, 1.0, 1.0};
  Mask larger_rel{};
  for (std::size_t i = 0; i < count; i += kLanes) {
    Quad r, e;
    get(r, block.r, i);
    get(e, block.e, i);
    r = r < kZero ? -r : r;
    worst.max_abs = e > worst.max_abs ? e : worst.max_abs;
    worst.violations += e <= atol + rtol * r ? kZero : one;  // NaN is a violation
    // Few blocks hold a larger relative error than those before: only they are worth their divisions.
    larger_rel |= (e > tiny) & (e > worst.max_rel * (r > tiny ? r : tiny));
  }
  if ((larger_rel[0] | larger_rel[1] | larger_rel[2] | larger_rel[3]) != 0) {
    for (std::size_t i = 0; i < count; i += kLanes) {
      Quad r, e;
      get(r, block.r, i);
      get(e, block.e, i);
      r = r < kZero ? -r : r;
      const Quad relative = e > tiny ? e / (r > tiny ? r : tiny) : kZero;
      worst.max_rel = relative > worst.max_rel ? relative : worst.max_rel;
    }
  }
  total = worst;
}

struct Range {
  Quad min{kInf, kInf, kInf, kInf}, max{-kInf, -kInf, -kInf, -kInf}, zeros{}, r_poison{}, a_poison{};
};

FIEL_FAST_LOOP void add_range(Range& total, const Block& block, std::size_t count) {
  Range range = total;
  const Quad one{1.0, 1.0, 1.0, 1.0};
  for (std::size_t i = 0; i < count; i += kLanes) {
    Quad r, a;
    get(r, block.r, i);
    get(a, block.a, i);
    range.min = r < range.min ? r : range.min;
    range.max = r > range.max ? r : range.max;
    range.zeros += r == kZero ? one : kZero;
    // Zero times a finite number is zero; times NaN or infinity it is NaN, which stays in the sum.
    range.r_poison += r * kZero;
    range.a_poison += a * kZero;
  }
  total = range;
}

double sum(const Quad& quad) { return (quad[0] + quad[1]) + (quad[2] + quad[3]); }
double largest(const Quad& quad) { return std::max(std::max(quad[0], quad[1]), std::max(quad[2], quad[3])); }
double smallest(const Quad& quad) { return std::min(std::min(quad[0], quad[1]), std::min(quad[2], quad[3])); }

// Blocks are filled up to a multiple of the lanes, so that no loop needs a tail: with zeros, which add nothing to sums and
// errors, and for the range with the block's own first element.
struct Gathered {
  Sums sums;
  Worst worst;
  Range range;
  double padded_zeros = 0;

  void add(Block& block, std::size_t count, const Constants& constants) {
    const std::size_t padded = (count + kLanes - 1) / kLanes * kLanes;
    for (std::size_t i = count; i < padded; ++i) block.r[i] = block.a[i] = block.e[i] = 0;
    add_squares(sums, block, padded, constants.scale);
    add_errors(worst, block, padded, constants);
    add_to_range(block, count);
  }

  void add_to_range(Block& block, std::size_t count) {
    const std::size_t padded = (count + kLanes - 1) / kLanes * kLanes;
    for (std::size_t i = count; i < padded; ++i) {
      block.r[i] = block.r[0];
      block.a[i] = 0;
      padded_zeros += block.r[0] == 0 ? 1 : 0;
    }
    add_range(range, block, padded);
  }

  ErrorSums result() const {
    return ErrorSums{.rr = sum(sums.rr),
                     .aa = sum(sums.aa),
                     .ra = sum(sums.ra),
                     .ee = sum(sums.ee),
                     .max_abs = largest(worst.max_abs),
                     .max_rel = largest(worst.max_rel),
                     .violations = static_cast<std::int64_t>(sum(worst.violations)),
                     .zeros = static_cast<std::int64_t>(sum(range.zeros) - padded_zeros),
                     .min = smallest(range.min),
                     .max = largest(range.max),
                     .reference_finite = sum(range.r_poison) == 0,
                     .candidate_finite = sum(range.a_poison) == 0};
  }
};

}  // namespace

ErrorSums error_sums(const TensorView& reference, const TensorView& candidate,
                     const Tolerance& tolerance, NonFinitePairs pairs) {
  FIEL_CHECK(reference.dtype == candidate.dtype);
  FIEL_CHECK(reference.bytes.size() == candidate.bytes.size());
  const std::size_t count = reference.bytes.size() / element_size(reference.dtype);
  const Constants constants{common_scale(reference, candidate, count),
                            smallest_normal(reference.dtype), tolerance.rtol, tolerance.atol};
  Block block;
  Gathered gathered;
  std::int64_t worst_index = -1;
  with_kind(reference.dtype, [&]<class K>(K) {
    for (std::size_t begin = 0; begin < count; begin += kBlock) {
      const std::size_t size = std::min(kBlock, count - begin);
      fill<K>(block, reference.bytes.data(), candidate.bytes.data(), begin, size);
      if (pairs == NonFinitePairs::kSkipped) skip_non_finite_pairs(block, size);
      const double before = largest(gathered.worst.max_abs);
      gathered.add(block, size, constants);
      if (largest(gathered.worst.max_abs) > before) {
        const auto end = block.e.begin() + static_cast<std::ptrdiff_t>(size);
        worst_index = static_cast<std::int64_t>(begin) +
                      (std::max_element(block.e.begin(), end) - block.e.begin());
      }
    }
  });
  ErrorSums sums = gathered.result();
  sums.worst_index = worst_index;
  return sums;
}

ValueRange value_range(const TensorView& tensor) {
  const std::size_t count = tensor.bytes.size() / element_size(tensor.dtype);
  Block block;
  Gathered gathered;
  with_kind(tensor.dtype, [&]<class K>(K) {
    for (std::size_t begin = 0; begin < count; begin += kBlock) {
      const std::size_t size = std::min(kBlock, count - begin);
      fill<K>(block, tensor.bytes.data(), tensor.bytes.data(), begin, size);
      gathered.add_to_range(block, size);
    }
  });
  const ErrorSums sums = gathered.result();
  return {.min = sums.min, .max = sums.max, .zeros = sums.zeros, .finite = sums.reference_finite};
}

}  // namespace fiel::detail
