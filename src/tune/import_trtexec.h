// A tuning cache of trtexec as a run folder: what it measured becomes candidates that `show` reads, and what a gate would need
// and the file does not have becomes the reason why nothing is decided. Starts no engine.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace fiel {

struct ImportedRun {
  std::size_t candidates = 0;
  std::size_t not_judged = 0;  // of them, those that neither failed nor were shown to be wrong
};

/// Writes `folder`, which must hold no run yet.
Result<ImportedRun> import_trtexec_cache(const std::filesystem::path& file, const std::filesystem::path& folder);

}  // namespace fiel
