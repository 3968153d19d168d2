#include "gate/tensor_pack.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace fiel {
namespace {

constexpr std::int64_t kAlignment = 64;  // a cache line, and what vector loads like

}  // namespace

Result<TensorPackWriter> TensorPackWriter::create(const std::filesystem::path& file) {
  FIEL_TRY(ensure_folder(file.parent_path()));
  Fd descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!descriptor.is_open()) return std::unexpected(file_error("create", file, errno));
  return TensorPackWriter(file, std::move(descriptor));
}

Result<> TensorPackWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return std::unexpected(file_error("write", path_, errno));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    size_ += written;
  }
  return {};
}

Result<PackedTensor> TensorPackWriter::append(const TensorView& tensor) {
  static constexpr std::array<std::byte, kAlignment> kZeros{};
  const std::int64_t gap = (kAlignment - size_ % kAlignment) % kAlignment;
  FIEL_TRY(write(std::span(kZeros).first(static_cast<std::size_t>(gap))));
  const PackedTensor place{.offset = size_, .dtype = tensor.dtype, .shape = tensor.shape};
  FIEL_TRY(write(tensor.bytes));
  return place;
}

Result<> TensorPackWriter::sync() {
  if (::fsync(descriptor_.get()) != 0) return std::unexpected(file_error("write", path_, errno));
  return {};
}

Result<MappedFile> MappedFile::open(const std::filesystem::path& file) {
  const Fd descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!descriptor.is_open() || ::fstat(descriptor.get(), &status) != 0) {
    return std::unexpected(file_error("read", file, errno));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return MappedFile(nullptr, 0);
  void* begin = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
  if (begin == MAP_FAILED) return std::unexpected(file_error("map", file, errno));
  return MappedFile(static_cast<const std::byte*>(begin), size);
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(begin_, other.begin_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (begin_ != nullptr) ::munmap(const_cast<std::byte*>(begin_), size_);
}

bool lies_inside(const PackedTensor& place, std::int64_t size) {
  const auto count = element_count(place.shape);
  if (!count || place.offset < 0 || place.offset > size) return false;
  const auto width = static_cast<std::int64_t>(element_size(place.dtype));
  return *count <= (size - place.offset) / width;
}

}  // namespace fiel
