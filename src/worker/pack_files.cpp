#include "worker/pack_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/files.h"

namespace fiel {
namespace {

constexpr std::size_t kPageBytes = 4096;

// A page that is first touched inside a timed run costs a fault there.
void page_in(std::span<const std::byte> bytes) {
  std::byte sum{0};
  for (std::size_t i = 0; i < bytes.size(); i += kPageBytes) sum ^= bytes[i];
  [[maybe_unused]] volatile std::byte sink = sum;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0) {
    return std::unexpected(file_error("open", path, errno));
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorKind::kProtocol, fmt::format("{} is no regular file", path.string()));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return MappedFile(nullptr, 0);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) return std::unexpected(file_error("map", path, errno));
  return MappedFile(static_cast<const std::byte*>(data), size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

Result<std::span<const std::byte>> PackFiles::bytes_of(const TensorFile& tensor) {
  auto found = files_.find(tensor.file);
  if (found == files_.end()) {
    found = files_.emplace(tensor.file, FIEL_TRY(MappedFile::open(tensor.file))).first;
  }
  const std::span<const std::byte> all = found->second.bytes();
  const std::optional<std::int64_t> count = element_count(tensor.shape);
  if (!count)
    return fail(ErrorKind::kProtocol,
                fmt::format("shape {} is too large", to_string(tensor.shape)));
  const auto offset = static_cast<std::size_t>(tensor.offset);
  const std::size_t size = static_cast<std::size_t>(*count) * element_size(tensor.dtype);
  if (offset > all.size() || size > all.size() - offset) {
    return fail(ErrorKind::kProtocol,
                fmt::format("{} has {} bytes, too few for {} {} at offset {}", tensor.file.string(),
                            all.size(), to_string(tensor.dtype), to_string(tensor.shape), offset));
  }
  const std::span<const std::byte> bytes = all.subspan(offset, size);
  page_in(bytes);
  return bytes;
}

}  // namespace fiel
