#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/regular_file.h"
#include "base/survivor.h"
#include "base/sync.h"

namespace fiel {
namespace fs = std::filesystem;
namespace {

Result<> write_all(const Fd& descriptor, const fs::path& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return std::unexpected(file_error("write", path, errno));
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<> write_and_rename(const fs::path& temporary, const fs::path& path, std::string_view bytes) {
  Fd descriptor(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!descriptor.is_open()) return std::unexpected(file_error("create", temporary, errno));
  FIEL_TRY(write_all(descriptor, path, bytes));
  if (::fsync(descriptor.get()) != 0) return std::unexpected(file_error("write", path, errno));
  descriptor.close();
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return std::unexpected(file_error("write", path, errno));
  }
  return {};
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

std::string_view hint_for(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "free some space there, or choose another place (-o, TMPDIR)";
    case EACCES:
    case EPERM:
    case EROFS:
      return "check who may write there, or choose another place (-o)";
    case EMFILE:
    case ENFILE:
      return "raise the limit on open files (ulimit -n)";
    case ENOMEM:
      return "free some memory: end other programs, or raise the limit that holds here";
    case EAGAIN:
      return "there are too many processes: end some, or raise the limit (ulimit -u)";
    default:
      return "";
  }
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = other.release();
  }
  return *this;
}

int Fd::release() { return std::exchange(descriptor_, -1); }

void Fd::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

std::string errno_words(int error_number) {
  std::string words = std::generic_category().message(error_number);
  if (!words.empty() && words[0] >= 'A' && words[0] <= 'Z')
    words[0] = static_cast<char>(words[0] + 32);
  return words;
}

Error file_error(std::string_view act, const fs::path& path, int error_number) {
  return Error{ErrorKind::kEnvironment,
               fmt::format("cannot {} {}: {}", act, path.string(), errno_words(error_number)),
               std::string(hint_for(error_number))};
}

Result<std::string> read_text(const fs::path& path, std::int64_t max_bytes) {
  return read_text(FIEL_TRY(open_regular(path, Links::kFollowed)), path, max_bytes);
}

Result<std::string> read_tail(const fs::path& path, std::int64_t from, std::int64_t max_bytes) {
  const auto [descriptor, end] = FIEL_TRY(open_regular(path, Links::kFollowed));
  std::string text(static_cast<std::size_t>(std::clamp<std::int64_t>(end - from, 0, max_bytes)),
                   '\0');
  const off_t start = end - static_cast<off_t>(text.size());
  const ssize_t got = ::pread(descriptor.get(), text.data(), text.size(), start);
  if (got < 0) return std::unexpected(file_error("read", path, errno));
  text.resize(static_cast<std::size_t>(got));
  return text;
}

Result<> write_atomic(const fs::path& path, std::string_view bytes) {
  // The process id keeps two processes apart; within one, we are one thread.
  const fs::path temporary =
      folder_of(path) / fmt::format(".{}.{}.tmp", path.filename().string(), ::getpid());
  ::unlink(temporary.c_str());  // left by a killed process that had our id
  auto written = write_and_rename(temporary, path, bytes);
  if (!written) {
    ::unlink(temporary.c_str());
    return written;
  }
  return sync_folder(folder_of(path));
}

Result<OverWriter> OverWriter::open(const fs::path& path) {
  // No link is followed and no pipe waited for: another program may have had the file in between.
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
  if (!file.is_open()) return std::unexpected(file_error("write", path, errno));
  return OverWriter(path, std::move(file));
}

Result<> OverWriter::write(std::span<const std::byte> bytes) {
  FIEL_TRY(write_all(file_, path_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  written_ += std::ssize(bytes);
  return {};
}

Result<> OverWriter::finish() {
  if (::ftruncate(file_.get(), static_cast<off_t>(written_)) != 0) return std::unexpected(file_error("write", path_, errno));
  file_.close();
  return {};
}

Result<> ensure_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return std::unexpected(file_error("make folder", path, error.value()));
  if (!fs::is_directory(path, error)) {
    return std::unexpected(file_error("make folder", path, ENOTDIR));
  }
  return {};
}

Result<std::int64_t> free_bytes(const fs::path& path) {
  struct statvfs facts{};
  if (::statvfs(path.c_str(), &facts) != 0)
    return std::unexpected(file_error("look at", path, errno));
  return static_cast<std::int64_t>(facts.f_bavail) * static_cast<std::int64_t>(facts.f_frsize);
}

Result<TempFolder> TempFolder::create(const fs::path& parent, std::string_view prefix) {
  fs::path where = parent;
  if (where.empty()) {
    const char* variable = std::getenv("TMPDIR");
    where = variable != nullptr && *variable != '\0' ? variable : "/tmp";
  }
  std::string name = (where / fmt::format("{}XXXXXX", prefix)).string();
  if (::mkdtemp(name.data()) == nullptr) {
    return std::unexpected(file_error("make a temporary folder in", where, errno));
  }
  tell_survivor(Fate::kBegan, fs::path(name));
  return TempFolder(name);
}

TempFolder& TempFolder::operator=(TempFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TempFolder::~TempFolder() {
  if (path_.empty()) return;
  (void)remove_tree(path_);
  tell_survivor(Fate::kEnded, path_);
}

Result<FileLock> FileLock::acquire(const fs::path& path) {
  Fd descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!descriptor.is_open()) return std::unexpected(file_error("open", path, errno));
  while (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return std::unexpected(file_error("lock", path, errno));
    std::string holder = read_tail(path, 0, 32).value_or("");
    while (!holder.empty() && holder.back() == '\n') holder.pop_back();
    return fail(
        ErrorKind::kEnvironment,
        fmt::format("{} is in use by process {}", path.string(), holder.empty() ? "?" : holder),
        "wait for it to end, or stop it");
  }
  const std::string text = fmt::format("{}\n", ::getpid());
  if (::ftruncate(descriptor.get(), 0) != 0)
    return std::unexpected(file_error("write", path, errno));
  FIEL_TRY(write_all(descriptor, path, text));
  return FileLock(std::move(descriptor));
}

}  // namespace fiel
