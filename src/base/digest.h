// SHA-256, the only digest we use: identity of models, data, artifacts, candidates and records.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fiel {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  Sha256& update(std::span<const std::byte> bytes);
  Sha256& update(std::string_view text);
  /// A length in front of the bytes, so that ("ab","c") and ("a","bc") differ.
  Sha256& field(std::string_view text);
  std::string hex();  // 64 lower-case digits; ends this digest

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

std::string sha256_hex(std::string_view text);
Result<std::string> sha256_file(const std::filesystem::path& path);
/// Over the names and bytes of all regular files below `folder`, in name order.
Result<std::string> sha256_folder(const std::filesystem::path& folder);

/// Two digits a byte.
std::string hex_text(std::span<const unsigned char> bytes);

/// 128 random bits of the kernel's in hex: a name that no other run, on no other machine, has.
std::string random_id();

}  // namespace fiel
