// Where is the largest element of each row? Rows run along the last axis; the first of equal maxima counts.
// Knows no labels. A NaN is never a maximum.
#pragma once

#include <cstdint>
#include <vector>

#include "model/tensor.h"

namespace fiel {

/// One index per row. A scalar is one row of one element; rows of no elements have -1.
std::vector<std::int64_t> argmax_rows(const TensorView& tensor);

/// How many elements of the row [begin, begin + length) come before element `index` in descending order,
/// the earlier one first where two are equal.
std::int64_t rank_in_row(const TensorView& tensor, std::int64_t begin, std::int64_t length,
                         std::int64_t index);

}  // namespace fiel
