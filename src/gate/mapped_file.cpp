#include "gate/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/files.h"

namespace fiel {

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
