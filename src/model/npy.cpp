#include "model/npy.h"

#include <fmt/format.h>

#include <cstring>

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

Result<Tensor> read_npy(const std::filesystem::path& path, Links links) {
  const RegularFile file = FIEL_TRY(open_regular(path, links));
  const auto source = [&](std::span<std::byte> target) -> Result<> {
    while (!target.empty()) {
      const std::size_t got = FIEL_TRY(read_some(file, target, path));
      if (got == 0) return truncated();
      target = target.subspan(got);
    }
    return {};
  };
  auto tensor = read_npy_array(source, file.bytes);
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
