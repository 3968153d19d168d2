// Are these still the bytes that were measured? A bundle's bundle.json lists every other file with its SHA-256, and carries
// a digest over itself. Knows nothing of engines.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace fiel {

// 2: contract_file, devices, cores, cpu_count, kernel, reference, comparator and the number of sessions, for `fiel verify`.
inline constexpr int kBundleFormat = 2;

/// What does not agree with the seal, by path inside the bundle. "bundle.json" among `changed`: the list itself was edited.
struct Sealed {
  std::vector<std::string> changed, missing, extra;

  bool intact() const { return changed.empty() && missing.empty() && extra.empty(); }
};

/// Reads every file. kUsage: no bundle of ours is there; kCorrupt: no JSON any more; kEnvironment: a newer format.
Result<Sealed> check_seal(const std::filesystem::path& bundle);

/// Is there a bundle that fiel wrote, intact or not?
bool is_bundle(const std::filesystem::path& folder);

/// All files below `folder`, in name order, as {"path":{"sha256":…,"bytes":…}}. A link or a device is kEnvironment.
Result<Json> sealed_files(const std::filesystem::path& folder);

/// Adds "files" and "seal", and writes bundle.json. Every other file must be there already.
Result<> write_seal(const std::filesystem::path& folder, Json bundle);

}  // namespace fiel
