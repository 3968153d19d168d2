#include "base/regular_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr int kReadOnly = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// By way of the folder as it was opened, so that it can't become a link in between.
int open_without_links(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const Fd opened(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened.is_open()) return -1;
  return ::openat(opened.get(), path.filename().c_str(), kReadOnly | O_NOFOLLOW);
}

}  // namespace

Result<RegularFile> open_regular(const fs::path& path, Links links) {
  Fd descriptor(links == Links::kRefused ? open_without_links(path) : ::open(path.c_str(), kReadOnly));
  const bool is_link = links == Links::kRefused && (errno == ELOOP || errno == ENOTDIR);
  if (!descriptor.is_open() && is_link) {
    return fail(ErrorKind::kEnvironment, fmt::format("cannot read {}: it is, or lies behind, a link", path.string()));
  }
  struct stat facts{};
  if (!descriptor.is_open() || ::fstat(descriptor.get(), &facts) != 0) return std::unexpected(file_error("read", path, errno));
  if (!S_ISREG(facts.st_mode)) {
    return fail(ErrorKind::kEnvironment, fmt::format("cannot read {}: it is no regular file", path.string()));
  }
  return RegularFile{std::move(descriptor), facts.st_size};
}

Result<std::size_t> read_some(const RegularFile& file, std::span<std::byte> into, const fs::path& path) {
  for (;;) {
    const ssize_t got = ::read(file.descriptor.get(), into.data(), into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return std::unexpected(file_error("read", path, errno));
  }
}

Result<std::string> read_text(const RegularFile& file, const fs::path& path, std::int64_t max_bytes) {
  std::string text;
  std::array<char, 1 << 16> buffer{};
  while (std::ssize(text) <= max_bytes) {
    const std::size_t got = FIEL_TRY(read_some(file, std::as_writable_bytes(std::span(buffer)), path));
    if (got == 0) return text;
    text.append(buffer.data(), got);
  }
  return fail(ErrorKind::kEnvironment, fmt::format("cannot read {}: larger than {} bytes", path.string(), max_bytes));
}

}  // namespace fiel
