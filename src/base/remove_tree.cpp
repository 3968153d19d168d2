// remove_tree of files.h. What goes may be a worker's: folders in folders, ten thousand deep, without permission, with links
// and millions of files in them. So it all goes by descriptors, three at a time; nothing is followed; and what lies deep is moved
// up first, so that depth costs neither descriptors nor the length of a path.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

struct Closer {
  void operator()(DIR* listing) const { ::closedir(listing); }
};
using Listing = std::unique_ptr<DIR, Closer>;

// A folder that we may not read or write becomes ours again; it is one of our user's, else this fails and so does the rest.
Fd open_folder(int parent, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Fd folder(::openat(parent, name, kFlags));
  if (!folder.is_open() && errno == EACCES && ::fchmodat(parent, name, S_IRWXU, AT_SYMLINK_NOFOLLOW) == 0) {
    folder = Fd(::openat(parent, name, kFlags));
  }
  struct stat facts{};
  if (folder.is_open() && ::fstat(folder.get(), &facts) == 0 && (facts.st_mode & S_IRWXU) != S_IRWXU) {
    ::fchmod(folder.get(), (facts.st_mode & 07777) | S_IRWXU);
  }
  return folder;
}

Listing list(const Fd& folder) {
  Fd again(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Listing listing(again.is_open() ? ::fdopendir(again.get()) : nullptr);
  if (listing) again.release();
  return listing;
}

bool is_itself_or_parent(std::string_view name) { return name == "." || name == ".."; }

// Each entry of `folder` that is no folder goes; those that are folders are given to `each`, which makes them go. 0, or the
// first error.
template <class Each>
int clear(const Fd& folder, const Each& each) {
  const Listing listing = list(folder);
  if (!listing) return errno;
  int first_error = 0;
  while (const dirent* entry = ::readdir(listing.get())) {
    if (is_itself_or_parent(entry->d_name) || ::unlinkat(folder.get(), entry->d_name, 0) == 0 || errno == ENOENT) continue;
    const int error = errno == EISDIR || errno == EPERM ? each(entry->d_name) : errno;
    if (first_error == 0) first_error = error;
  }
  return first_error;
}

// Empties `top`. A folder in a folder of it is moved up to it under a new name, where a later pass finds it.
int empty_folder(const Fd& top) {
  std::int64_t moved = 0, passes_left = 1'000'000;
  for (bool again = true; again && passes_left > 0; --passes_left) {
    again = false;
    const int error = clear(top, [&](const char* name) {
      const Fd below = open_folder(top.get(), name);
      if (!below.is_open()) return errno;
      const int inner = clear(below, [&](const char* deeper) {
        (void)open_folder(below.get(), deeper);  // to be moved it must be writable
        do {
          const std::string place = fmt::format(".gone.{}", ++moved);
          if (::renameat(below.get(), deeper, top.get(), place.c_str()) == 0) {
            again = true;
            return 0;
          }
        } while (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR);
        return errno;
      });
      if (inner != 0) return inner;
      return ::unlinkat(top.get(), name, AT_REMOVEDIR) == 0 ? 0 : errno;
    });
    if (error != 0) return error;
  }
  return 0;
}

}  // namespace

Result<> remove_tree(const fs::path& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return {};
  int error = 0;
  // More than one try: a process that is just being ended may still put something there.
  for (int tries = 0; tries < 3; ++tries) {
    const Fd folder = open_folder(AT_FDCWD, path.c_str());
    error = folder.is_open() ? empty_folder(folder) : errno;
    if (error == 0) error = ::rmdir(path.c_str()) == 0 ? 0 : errno;
    if (error == 0 || error == ENOENT) return {};
  }
  return std::unexpected(file_error("remove", path, error));
}

}  // namespace fiel
