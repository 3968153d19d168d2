#include "base/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
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
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256_hex(std::string_view text) { return Sha256().update(text).hex(); }

namespace {

Result<> add_file(Sha256& digest, const std::filesystem::path& path) {
  const RegularFile file = FIEL_TRY(open_regular(path, Links::kFollowed));
  std::vector<std::byte> buffer(1 << 20);
  for (;;) {
    const ssize_t got = ::read(file.descriptor.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(file_error("read", path, errno));
    if (got == 0) return {};
    digest.update(std::span<const std::byte>(buffer.data(), static_cast<std::size_t>(got)));
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

}  // namespace fiel
