// The bytes of tensors where they lie: pack files, mapped read-only and checked against their real
// size.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>

#include "base/result.h"
#include "protocol/message.h"

namespace fiel {

class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  MappedFile(const std::byte* data, std::size_t size) : data_(data), size_(size) {}

  const std::byte* data_;
  std::size_t size_;
};

class PackFiles {
 public:
  /// The bytes of `tensor`, paged in; they stay where they are as long as this object, moved or
  /// not.
  Result<std::span<const std::byte>> bytes_of(const TensorFile& tensor);

 private:
  std::map<std::filesystem::path, MappedFile> files_;
};

}  // namespace fiel
