#include "pool/disk_watch.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <limits>

#include "base/files.h"
#include "base/units.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

// Under this much room there is nothing to tell a greedy worker by: one with an honest artifact could be blamed.
constexpr DiskRoom kLeastRoom{.bytes = std::int64_t{256} << 20, .files = 20'000};
// What must stay for the others: some looks' worth of writing at full speed.
constexpr DiskRoom kReserve{.bytes = std::int64_t{512} << 20, .files = 10'000};
constexpr std::int64_t kNoMatter = -1;

// What lies in the folders, counted until it is more than `enough` of either.
DiskRoom taken_by(const std::vector<fs::path>& folders, DiskRoom enough) {
  DiskRoom taken;
  for (const fs::path& folder : folders) {
    std::error_code code;
    const auto options = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator at(folder, options, code), end; !code && at != end; at.increment(code)) {
      struct stat facts{};
      if (::lstat(at->path().c_str(), &facts) != 0) continue;
      taken.bytes += static_cast<std::int64_t>(facts.st_blocks) * 512;
      if (++taken.files > enough.files || taken.bytes > enough.bytes) return taken;
    }
  }
  return taken;
}

}  // namespace

std::optional<DiskRoom> room_at(const fs::path& folder) {
  struct statvfs facts{};
  if (::statvfs(folder.c_str(), &facts) != 0) return std::nullopt;
  return DiskRoom{.bytes = static_cast<std::int64_t>(facts.f_bavail) * static_cast<std::int64_t>(facts.f_frsize),
                  // Some file systems make room for files as they go, and say 0.
                  .files = facts.f_files == 0 ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(facts.f_favail)};
}

DiskWatch::DiskWatch(const WorkerSpec& spec) : own_{spec.scratch} {
  const auto room = room_at(spec.scratch);
  if (!room) return;
  before_ = *room;
  reserve_.bytes = before_.bytes < kLeastRoom.bytes ? kNoMatter : std::min(kReserve.bytes, before_.bytes / 2);
  reserve_.files = before_.files < kLeastRoom.files ? kNoMatter : std::min(kReserve.files, before_.files / 2);
  if (!spec.confinement) return;
  for (const fs::path& folder : spec.confinement->writable) {
    std::error_code code;
    if (fs::is_directory(folder, code) && fs::is_empty(folder, code)) own_.push_back(folder);
  }
}

std::string DiskWatch::look() const {
  const auto room = room_at(own_.front());
  if (!room || (room->bytes >= reserve_.bytes && room->files >= reserve_.files)) return {};
  const DiskRoom most{.bytes = before_.bytes / 2, .files = before_.files / 2};
  const DiskRoom taken = taken_by(own_, most);
  if (room->bytes < reserve_.bytes && taken.bytes > most.bytes) {
    return fmt::format("it wrote more than {} and filled the disk: {} were free when it started, {} are left",
                       format_bytes(most.bytes), format_bytes(before_.bytes), format_bytes(room->bytes));
  }
  if (room->files < reserve_.files && taken.files > most.files) {
    return fmt::format("it made more than {} files: {} were possible when it started, {} are left", most.files, before_.files,
                       room->files);
  }
  return {};
}

void DiskWatch::clear() const {
  for (const fs::path& folder : own_) {
    (void)remove_tree(folder);
    (void)ensure_folder(folder);  // whoever made it finds it as it was
  }
}

}  // namespace fiel
