// Reading and writing files so that a crash leaves either the old or the new content, and errors
// that say path and cause. Knows nothing of what the files mean.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace fiel {

/// A file descriptor that closes itself. -1: none.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int descriptor) : descriptor_(descriptor) {}
  Fd(Fd&& other) noexcept : descriptor_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { close(); }

  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }
  int release();
  void close();

 private:
  int descriptor_ = -1;
};

/// "no space left on device"; the words of the C library, lower-case first letter.
std::string errno_words(int error_number);
/// "cannot <act> <path>: <words>" of kind kEnvironment, with a hint where we know one (no space,
/// permission).
Error file_error(std::string_view act, const std::filesystem::path& path, int error_number);

/// At most `max_bytes`; a longer file is an error, not a truncation.
Result<std::string> read_text(const std::filesystem::path& path,
                              std::int64_t max_bytes = std::int64_t{256} << 20);
/// The last `max_bytes` of the file, but nothing before `from`.
Result<std::string> read_tail(const std::filesystem::path& path, std::int64_t from,
                              std::int64_t max_bytes);
/// All of `bytes` under a temporary name in the same folder, fsync, rename, fsync of the folder.
Result<> write_atomic(const std::filesystem::path& path, std::string_view bytes);
/// Writes into the file that is there, if there is one, and cuts it to length at the end: its pages are used again, which on
/// a virtual machine is many times as fast as new ones. Not atomic, not durable: for scratch files.
class OverWriter {
 public:
  static Result<OverWriter> open(const std::filesystem::path& path);
  Result<> write(std::span<const std::byte> bytes);
  Result<> finish();

 private:
  OverWriter(std::filesystem::path path, Fd file) : path_(std::move(path)), file_(std::move(file)) {}
  std::filesystem::path path_;
  Fd file_;
  std::int64_t written_ = 0;
};
/// Makes the folder and those above it; one that is there already is fine, a file of that name is
/// an error.
Result<> ensure_folder(const std::filesystem::path& path);
/// Removes a folder with all below it, also where folders are read-only. Links are removed, never
/// followed.
Result<> remove_tree(const std::filesystem::path& path);
/// What an unprivileged user may still write on the file system that holds `path`.
Result<std::int64_t> free_bytes(const std::filesystem::path& path);

/// A new folder `<prefix>XXXXXX` that goes, with all in it, when this object goes.
class TempFolder {
 public:
  /// Below `parent`; an empty parent means $TMPDIR, else /tmp.
  static Result<TempFolder> create(const std::filesystem::path& parent, std::string_view prefix);
  TempFolder(TempFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TempFolder& operator=(TempFolder&& other) noexcept;
  ~TempFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TempFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// Keeps a second process out (flock on `path`, which holds our process id and stays behind,
/// unlocked).
class FileLock {
 public:
  /// Never waits: a lock that another holds is kEnvironment and names its process.
  static Result<FileLock> acquire(const std::filesystem::path& path);

 private:
  explicit FileLock(Fd descriptor) : descriptor_(std::move(descriptor)) {}
  Fd descriptor_;
};

}  // namespace fiel
