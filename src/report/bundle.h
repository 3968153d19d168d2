// The folder that ships: the exact artifact that was measured, what it needs to run, what it is worth and how that is
// known, sealed by digests. Made from the run folder alone; starts no engine.
//
//   artifact/      the engine's files, byte for byte      bundle.json    settings, ports, digests, evidence in short
//   contract.toml  what it was held to                    evidence.json  the run's whole result (docs/result.md)
//   README.md      for people                             load.py, engine.py, load.cpp, engine.h, sealed.h, CMakeLists.txt:
//                                                         openvino and onnxruntime only
#pragma once

#include <filesystem>
#include <optional>

#include "base/result.h"
#include "report/seal.h"

namespace fiel {

/// May a candidate be exported that is not admissible? It is then labelled as such in every file for people.
enum class Force { kNo, kInadmissible };

/// Writes the bundle of `candidate`, or of what the verdict ships, and returns its folder. An older bundle of ours at that
/// place is replaced in one step; anything else there is left alone (kUsage). An artifact that is not what was measured
/// any more is kCorrupt.
Result<std::filesystem::path> write_bundle(const std::filesystem::path& run_folder, std::optional<int> candidate,
                                           const std::filesystem::path& out_folder, Force force = Force::kNo);

}  // namespace fiel
