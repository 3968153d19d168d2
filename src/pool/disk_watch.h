// Does a worker fill the disk? Whoever writes until nobody else can is its own candidate's failure, and what it wrote goes
// at once; else one bad build would end a run of hours.
//
// Only where it is plain: there was room when it started, now there is hardly any, and more than half of what is gone lies in
// the worker's own folders. On a disk that was nearly full before, nobody can be told from the others: there the run stops, and
// goes on when there is room again (stop_if_not_its_fault).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pool/worker.h"

namespace fiel {

struct DiskRoom {
  std::int64_t bytes = 0, files = 0;  // that may still be written, and made
};

class DiskWatch {
 public:
  /// Before the worker starts: folders that have something in them are not its own.
  explicit DiskWatch(const WorkerSpec& spec);

  /// Cheap as long as there is room. Words where the worker filled the disk; empty: no.
  std::string look() const;
  /// Removes what it wrote. It must have ended.
  void clear() const;

 private:
  std::vector<std::filesystem::path> own_;
  DiskRoom before_, reserve_;
};

/// nullopt where the kernel does not tell.
std::optional<DiskRoom> room_at(const std::filesystem::path& folder);

}  // namespace fiel
