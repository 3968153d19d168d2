// Many tensors in one file: appended raw, 64-byte aligned, and read in place through a map of the file. Knows no names:
// whoever appends keeps the places.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "base/files.h"
#include "base/result.h"
#include "contract/dataset.h"
#include "model/tensor.h"

namespace fiel {

class TensorPackWriter {
 public:
  static Result<TensorPackWriter> create(const std::filesystem::path& file);

  Result<PackedTensor> append(const TensorView& tensor);
  Result<> sync();  // on the disk, not only on its way there
  std::int64_t size() const { return size_; }

 private:
  TensorPackWriter(std::filesystem::path path, Fd descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}
  Result<> write(std::span<const std::byte> bytes);

  std::filesystem::path path_;
  Fd descriptor_;
  std::int64_t size_ = 0;
};

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
