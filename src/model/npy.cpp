#include "model/npy.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>

#include "base/files.h"
#include "model/npy_header.h"

namespace fiel {
namespace {

std::unexpected<Error> truncated() {
  return fail(ErrorKind::kContract, "the file ends early", "write it again");
}

}  // namespace

Result<Tensor> parse_npy(std::span<const std::byte> file) {
  std::span<const std::byte> rest = file;
  const auto source = [&rest](std::span<std::byte> target) -> Result<> {
    if (rest.size() < target.size()) return truncated();
    if (!target.empty()) std::memcpy(target.data(), rest.data(), target.size());
    rest = rest.subspan(target.size());
    return {};
  };
  return read_npy_array(source, static_cast<std::int64_t>(file.size()));
}

std::vector<std::byte> format_npy(const TensorView& tensor) {
  const std::string header = format_npy_header(tensor.dtype, tensor.shape);
  std::vector<std::byte> file(header.size() + tensor.bytes.size());
  std::memcpy(file.data(), header.data(), header.size());
  if (!tensor.bytes.empty()) {
    std::memcpy(file.data() + header.size(), tensor.bytes.data(), tensor.bytes.size());
  }
  return file;
}

Result<Tensor> read_npy(const std::filesystem::path& path) {
  // Only regular files have a size to check against; a pipe or a device could also block for ever.
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) {
    return fail(ErrorKind::kEnvironment,
                fmt::format("cannot read {}: no such file", path.string()));
  }
  const auto size = std::filesystem::file_size(path, code);
  std::ifstream file(path, std::ios::binary);
  if (code || !file)
    return fail(ErrorKind::kEnvironment, fmt::format("cannot read {}", path.string()));
  const auto source = [&file](std::span<std::byte> target) -> Result<> {
    file.read(reinterpret_cast<char*>(target.data()), static_cast<std::streamsize>(target.size()));
    if (static_cast<std::size_t>(file.gcount()) != target.size()) return truncated();
    return {};
  };
  auto tensor = read_npy_array(source, static_cast<std::int64_t>(size));
  if (!tensor) return std::unexpected(std::move(tensor).error().with_context(path.string()));
  return tensor;
}

Result<> write_npy(const std::filesystem::path& path, const TensorView& tensor) {
  const std::string header = format_npy_header(tensor.dtype, tensor.shape);
  OverWriter file = FIEL_TRY(OverWriter::open(path));
  FIEL_TRY(file.write(std::as_bytes(std::span(header))));
  FIEL_TRY(file.write(tensor.bytes));
  return file.finish();
}

}  // namespace fiel
