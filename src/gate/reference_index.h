// What stands beside a pack of reference outputs: where they lie, what they are like, what they scored. Reading believes
// nothing: a place outside the pack or a missing score is kCorrupt.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "contract/dataset.h"
#include "gate/compare.h"
#include "gate/gate.h"

namespace fiel {

struct ReferenceIndex {
  std::string set_digest;
  std::int64_t pack_bytes = 0;
  std::string pack_digest;  // SHA-256: the pack is not forced to the disk
  std::vector<std::map<std::string, PackedTensor>> places;  // by sample of the set; empty: not there yet
  std::map<std::string, TensorTraits> traits;               // by output
  Scores scores;
};

Result<> write_reference_index(const std::filesystem::path& file, const ReferenceIndex& index);
Result<ReferenceIndex> read_reference_index(const std::filesystem::path& file);

}  // namespace fiel
