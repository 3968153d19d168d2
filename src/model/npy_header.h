// Which tensor an .npy file announces, before its data are read. Takes bytes from any source (a
// file, memory, an entry of an archive) and believes none of them: every number is bounded before
// it is used.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "model/tensor.h"

namespace fiel {

/// Fills the whole span or says why not.
using ByteSource = std::function<Result<>(std::span<std::byte>)>;

struct NpyHeader {
  DType dtype = DType::kFloat32;
  Shape shape;
  bool fortran_order = false;
  std::int64_t data_offset = 0;  // header bytes in front of the data
  std::int64_t data_bytes = 0;
};

Result<NpyHeader> read_npy_header(const ByteSource& source);

/// Header and data of a file that is `file_bytes` long: neither shorter nor longer than announced.
/// Memory is taken only after that has been checked.
Result<Tensor> read_npy_array(const ByteSource& source, std::int64_t file_bytes);

/// Turns bytes that lie with the first axis fastest (Fortran's order) into ours.
void to_c_order(Tensor& tensor);

std::string format_npy_header(DType dtype, const Shape& shape);

}  // namespace fiel
