// The arrays of one .npz file, one after the other or side by side, without holding them in memory.
// Everything that the archive's directory says is checked when it is opened.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/npy_header.h"

namespace fiel {

/// One array while it is being unpacked. Must not outlive its NpzReader.
class NpzArray {
 public:
  NpzArray(NpzArray&&) noexcept;
  NpzArray& operator=(NpzArray&&) noexcept;
  ~NpzArray();

  const NpyHeader& header() const { return header_; }
  /// The next target.size() bytes of the data; the last ones also prove the entry's checksum.
  Result<> read(std::span<std::byte> target);

 private:
  friend class NpzReader;
  struct Impl;
  explicit NpzArray(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  NpyHeader header_;
};

class NpzReader {
 public:
  /// Refuses what is no zip file, and entries that are encrypted, repeated, no .npy, or larger than
  /// they can be; `max_bytes` bounds the sum of all unpacked entries.
  static Result<NpzReader> open(const std::filesystem::path& path, std::int64_t max_bytes);
  NpzReader(NpzReader&&) noexcept;
  NpzReader& operator=(NpzReader&&) noexcept;
  ~NpzReader();

  std::vector<std::string> names() const;  // sorted, without ".npy"
  bool has(const std::string& name) const;
  Result<NpzArray> open_array(const std::string& name) const;
  Result<Tensor> read_array(const std::string& name) const;

 private:
  struct Impl;
  explicit NpzReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fiel
