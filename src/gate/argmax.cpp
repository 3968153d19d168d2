#include "gate/argmax.h"

#include <cstddef>

#include "gate/elements.h"

namespace fiel {
namespace {

template <class K>
std::int64_t argmax_of(const std::byte* bytes, std::size_t begin, std::size_t length) {
  std::int64_t best = -1;
  typename K::Value best_value{};
  for (std::size_t i = 0; i < length; ++i) {
    const auto value = detail::load<K>(bytes, begin + i);
    // A NaN is not equal to itself, so it can neither open a row nor win it.
    if (best < 0 ? value == value : value > best_value) {
      best = static_cast<std::int64_t>(i);
      best_value = value;
    }
  }
  return best;
}

}  // namespace

std::vector<std::int64_t> argmax_rows(const TensorView& tensor) {
  const auto count = static_cast<std::size_t>(element_count(tensor.shape).value_or(0));
  const auto length = tensor.shape.empty() ? 1 : static_cast<std::size_t>(tensor.shape.back());
  if (length == 0) {
    Shape outer(tensor.shape.begin(), tensor.shape.end() - 1);
    return std::vector<std::int64_t>(static_cast<std::size_t>(element_count(outer).value_or(0)), -1);
  }
  std::vector<std::int64_t> rows(count / length);
  detail::with_kind(tensor.dtype, [&]<class K>(K) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      rows[row] = argmax_of<K>(tensor.bytes.data(), row * length, length);
    }
  });
  return rows;
}

std::int64_t rank_in_row(const TensorView& tensor, std::int64_t begin, std::int64_t length,
                         std::int64_t index) {
  return detail::with_kind(tensor.dtype, [&]<class K>(K) {
    const std::byte* bytes = tensor.bytes.data();
    const auto own = detail::load<K>(bytes, static_cast<std::size_t>(begin + index));
    std::int64_t before = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      const auto other = detail::load<K>(bytes, static_cast<std::size_t>(begin + i));
      // Written so that a NaN of one's own has everything before it.
      if (i != index && !(other < own) && !(other == own && i > index)) ++before;
    }
    return before;
  });
}

}  // namespace fiel
