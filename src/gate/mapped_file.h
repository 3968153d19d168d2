// A pack of tensors (contract/pack.h writes it) read in place, through a map of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "base/result.h"
#include "contract/dataset.h"

namespace fiel {

/// A whole file, mapped for reading. Moves keep its address.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& file);

  MappedFile(MappedFile&& other) noexcept
      : begin_(std::exchange(other.begin_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {begin_, size_}; }

 private:
  MappedFile(const std::byte* begin, std::size_t size) : begin_(begin), size_(size) {}
  const std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
};

/// True where the place lies inside a file of `size` bytes.
bool lies_inside(const PackedTensor& place, std::int64_t size);

}  // namespace fiel
