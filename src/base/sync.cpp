#include "base/sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"

namespace fiel {
namespace fs = std::filesystem;

// A rename is on disk only when its folder is. Some file systems refuse to sync a folder (EINVAL);
// they order it anyhow.
Result<> sync_folder(const fs::path& folder) {
  const Fd descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) return std::unexpected(file_error("open", folder, errno));
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL) {
    return std::unexpected(file_error("sync", folder, errno));
  }
  return {};
}

Result<> sync_tree(const fs::path& path) {
  std::error_code code;
  for (fs::recursive_directory_iterator at(path, code), end; !code && at != end; at.increment(code)) {
    const fs::file_status status = at->symlink_status(code);
    if (fs::is_directory(status)) FIEL_TRY(sync_folder(at->path()));
    if (!fs::is_regular_file(status)) continue;
    const Fd file(::open(at->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file.is_open() || ::fsync(file.get()) != 0) return std::unexpected(file_error("sync", at->path(), errno));
  }
  if (code) return std::unexpected(file_error("sync", path, code.value()));
  FIEL_TRY(sync_folder(path));
  return sync_folder(path.has_parent_path() ? path.parent_path() : fs::path("."));
}

}  // namespace fiel
