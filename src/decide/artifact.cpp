#include "decide/artifact.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/files.h"
#include "base/printable.h"
#include "base/units.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr int kMostDeep = 16;
constexpr int kMostFiles = 10'000;
constexpr std::int64_t kMostHole = std::int64_t{64} << 20;  // bytes that a file says it has and no disk holds

std::string named(const fs::path& path, const fs::path& folder) {
  return excerpt(path.lexically_relative(folder).string(), 200);
}

// Of one entry; empty: it may stay.
std::string why_not(const fs::path& path) {
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0) return errno_words(errno);
  if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) return "is no file";
  if (const std::string name = path.filename().string(); printable(name) != name) return "has a name that can't be shown";
  const Fd opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!opened.is_open() && (errno == EACCES || errno == ELOOP || errno == ENAMETOOLONG)) return "can't be read";
  // File systems that compress hold less than there is: only a large difference is a hole, and none compresses a thousandfold.
  const std::int64_t held = static_cast<std::int64_t>(facts.st_blocks) * 512;
  if (S_ISREG(facts.st_mode) && facts.st_size > kMostHole && facts.st_size / 1000 > held) {
    return fmt::format("says that it has {}, of which there are {}", format_bytes(facts.st_size), format_bytes(held));
  }
  return {};
}

}  // namespace

std::string why_no_artifact(const fs::path& folder) {
  std::error_code code;
  int count = 0;
  for (fs::recursive_directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    if (const std::string why = why_not(at->path()); !why.empty()) {
      return fmt::format("it left something in its artifact that {}: {}", why, named(at->path(), folder));
    }
    if (++count > kMostFiles) return fmt::format("it left more than {} files in its artifact", kMostFiles);
    if (at.depth() >= kMostDeep) return fmt::format("it left folders more than {} deep in its artifact", kMostDeep);
  }
  // Not from a lack of descriptors: that, who reads it next will say.
  if (code == std::errc::permission_denied || code == std::errc::filename_too_long) {
    return fmt::format("its artifact can't be read: {}", code.message());
  }
  return {};
}

}  // namespace fiel
