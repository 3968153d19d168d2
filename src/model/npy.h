// NumPy's array files. Reads versions 1-3, little- or big-endian refused with a word, C order only
// (Fortran order is converted); writes version 1.0. bfloat16 is the two-byte void `<V2` of
// ml_dtypes.
#pragma once

#include <filesystem>
#include <map>
#include <span>

#include "base/regular_file.h"
#include "model/tensor.h"

namespace fiel {

Result<Tensor> parse_npy(std::span<const std::byte> file);
std::vector<std::byte> format_npy(const TensorView& tensor);
Result<Tensor> read_npy(const std::filesystem::path& path, Links links = Links::kFollowed);
/// Over a file that is there (base/files.h, OverWriter); not durable.
Result<> write_npy(const std::filesystem::path& path, const TensorView& tensor);

/// All arrays of an .npz by name; entry names lose their ".npy". Sizes are bounded by `max_bytes`
/// before anything is unpacked.
Result<std::map<std::string, Tensor>> read_npz(const std::filesystem::path& path,
                                               std::int64_t max_bytes = std::int64_t{8} << 30);
/// Stored, not deflated: evaluators read these once and they are deleted. Over a file that is there, as write_npy.
Result<> write_npz(const std::filesystem::path& path,
                   const std::map<std::string, TensorView>& arrays);

}  // namespace fiel
