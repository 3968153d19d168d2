#include "base/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/regular_file.h"

namespace fiel {

struct Sha256::Impl {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~Impl() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {
  FIEL_CHECK(impl_->context != nullptr);
  FIEL_CHECK(EVP_DigestInit_ex(impl_->context, EVP_sha256(), nullptr) == 1);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::update(std::span<const std::byte> bytes) {
  FIEL_CHECK(EVP_DigestUpdate(impl_->context, bytes.data(), bytes.size()) == 1);
  return *this;
}

Sha256& Sha256::update(std::string_view text) {
  return update(std::as_bytes(std::span(text.data(), text.size())));
}

Sha256& Sha256::field(std::string_view text) {
  return update(fmt::format("{}:", text.size())).update(text);
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  FIEL_CHECK(EVP_DigestFinal_ex(impl_->context, digest.data(), &size) == 1);
  return hex_text(std::span(digest).first(size));
}

std::string sha256_hex(std::string_view text) { return Sha256().update(text).hex(); }

namespace {

Result<> add_file(Sha256& digest, const std::filesystem::path& path) {
  const RegularFile file = FIEL_TRY(open_regular(path, Links::kFollowed));
  std::vector<std::byte> buffer(1 << 20);
  for (;;) {
    const std::size_t got = FIEL_TRY(read_some(file, buffer, path));
    if (got == 0) return {};
    digest.update(std::span<const std::byte>(buffer.data(), got));
  }
}

}  // namespace

Result<std::string> sha256_file(const std::filesystem::path& path) {
  Sha256 digest;
  FIEL_TRY(add_file(digest, path));
  return digest.hex();
}

Result<std::string> sha256_folder(const std::filesystem::path& folder) {
  std::error_code code;
  std::vector<std::filesystem::path> files;
  for (auto it = std::filesystem::recursive_directory_iterator(folder, code);
       !code && it != std::filesystem::recursive_directory_iterator(); it.increment(code)) {
    if (it->is_regular_file(code)) files.push_back(it->path());
  }
  if (code) {
    return fail(ErrorKind::kEnvironment,
                fmt::format("cannot read {}: {}", folder.string(), code.message()));
  }
  std::ranges::sort(files);
  Sha256 digest;
  for (const auto& path : files) {
    digest.field(path.lexically_relative(folder).generic_string());
    digest.field(FIEL_TRY(sha256_file(path)));
  }
  return digest.hex();
}

std::string hex_text(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string random_id() {
  std::array<unsigned char, 16> bytes{};
  FIEL_CHECK(::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  return hex_text(bytes);
}

}  // namespace fiel
