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

// Two doubles side by side, which every x86-64 and AArch64 adds at once. The compiler may not reorder floating sums on
// its own; so the order is written down here, and results are the same on every machine with the same arithmetic.
using Pair = double __attribute__((vector_size(16)));
using FloatPair = float __attribute__((vector_size(8)));
constexpr Pair kZero{0.0, 0.0};
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Block {
  std::array<double, kBlock> r;
  std::array<double, kBlock> a;
  std::array<double, kBlock> e;  // |a - r|
};

inline Pair at(const std::array<double, kBlock>& values, std::size_t i) {
  Pair pair;
  std::memcpy(&pair, values.data() + i, sizeof(pair));
  return pair;
}
inline Pair magnitude(Pair x) { return x < kZero ? -x : x; }
inline Pair larger(Pair x, Pair y) { return x > y ? x : y; }
inline Pair smaller(Pair x, Pair y) { return x < y ? x : y; }

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

// The same for float32, two at a time: most outputs are, and turning them into doubles is a third of all the work.
template <>
void fill<Plain<float>>(Block& block, const std::byte* reference, const std::byte* candidate,
                        std::size_t begin, std::size_t count) {
  const auto pair = [begin](const std::byte* bytes, std::size_t i) {
    FloatPair floats;
    std::memcpy(&floats, bytes + (begin + i) * sizeof(float), sizeof(floats));
    return __builtin_convertvector(floats, Pair);
  };
  for (std::size_t i = 0; i + 2 <= count; i += 2) {
    const Pair r = pair(reference, i);
    const Pair a = pair(candidate, i);
    const Pair e = magnitude(a - r);
    std::memcpy(block.r.data() + i, &r, sizeof(r));
    std::memcpy(block.a.data() + i, &a, sizeof(a));
    std::memcpy(block.e.data() + i, &e, sizeof(e));
  }
  if (count % 2 == 1) {
    const auto r = load<Plain<float>>(reference, begin + count - 1);
    const auto a = load<Plain<float>>(candidate, begin + count - 1);
    block.r[count - 1] = static_cast<double>(r);
    block.a[count - 1] = static_cast<double>(a);
    block.e[count - 1] = distance(r, a);
  }
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
  Pair rr{}, aa{}, ra{}, ee{};
};

void add_squares(Sums& total, const Block& block, std::size_t count, double scale) {
  Sums sums = total;
  const Pair scales{scale, scale};
  for (std::size_t i = 0; i < count; i += 2) {
    const Pair r = at(block.r, i) * scales;
    const Pair a = at(block.a, i) * scales;
    const Pair e = at(block.e, i) * scales;
    sums.rr += r * r;
    sums.aa += a * a;
    sums.ra += r * a;
    sums.ee += e * e;
  }
  total = sums;
}

struct Worst {
  Pair max_abs{}, max_rel{}, violations{};
};

void add_errors(Worst& total, const Block& block, std::size_t count, const Constants& constants) {
  Worst worst = total;
  const Pair tiny{constants.tiny, constants.tiny};
  const Pair rtol{constants.rtol, constants.rtol};
  const Pair atol{constants.atol, constants.atol};
  const Pair one{1.0, 1.0};
  for (std::size_t i = 0; i < count; i += 2) {
    const Pair r = magnitude(at(block.r, i));
    const Pair e = at(block.e, i);
    worst.max_abs = larger(e, worst.max_abs);
    worst.max_rel = larger(e > tiny ? e / larger(r, tiny) : kZero, worst.max_rel);
    worst.violations += e <= atol + rtol * r ? kZero : one;  // NaN is a violation
  }
  total = worst;
}

struct Range {
  Pair min{kInf, kInf}, max{-kInf, -kInf}, zeros{}, r_poison{}, a_poison{};
};

void add_range(Range& total, const Block& block, std::size_t count) {
  Range range = total;
  const Pair one{1.0, 1.0};
  for (std::size_t i = 0; i < count; i += 2) {
    const Pair r = at(block.r, i);
    range.min = smaller(r, range.min);
    range.max = larger(r, range.max);
    range.zeros += r == kZero ? one : kZero;
    // Zero times a finite number is zero; times NaN or infinity it is NaN, which stays in the sum.
    range.r_poison += r * kZero;
    range.a_poison += at(block.a, i) * kZero;
  }
  total = range;
}

double sum(Pair pair) { return pair[0] + pair[1]; }
double largest(Pair pair) { return std::max(pair[0], pair[1]); }

// Blocks are filled up to a multiple of two, so that no loop needs a tail: with zeros, which add nothing to sums and
// errors, and for the range with the block's own first element.
struct Gathered {
  Sums sums;
  Worst worst;
  Range range;
  double padded_zeros = 0;

  void add(Block& block, std::size_t count, const Constants& constants) {
    const std::size_t padded = (count + 1) / 2 * 2;
    for (std::size_t i = count; i < padded; ++i) block.r[i] = block.a[i] = block.e[i] = 0;
    add_squares(sums, block, padded, constants.scale);
    add_errors(worst, block, padded, constants);
    for (std::size_t i = count; i < padded; ++i) {
      block.r[i] = block.r[0];
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
                     .min = std::min(range.min[0], range.min[1]),
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

}  // namespace fiel::detail
