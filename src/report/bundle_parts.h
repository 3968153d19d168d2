// The files of a bundle as text. What is worth what is decided here, once, for bundle.json and the README.
#pragma once

#include <string>

#include "base/json.h"
#include "report/view.h"

namespace fiel {

/// On what does a candidate's claim rest?
enum class Worth {
  kProven,        // the winner: faster in fresh processes, accurate on the hold-out
  kKept,          // the comparator, which ships since nothing beat it
  kProvisional,   // passed the tuning gate; no proof was made for it
  kInadmissible,  // exported by force
};
std::string_view to_string(Worth worth);
Worth worth_of(const RunView& view, const CandidateView& candidate);
std::string worth_words(const RunView& view, const CandidateView& candidate);

struct BundleFacts {
  const RunView& view;
  const CandidateView& candidate;
  std::string contract_digest;
  std::string device;
  const Json& note;  // the artifact's own load.json; null where the engine wrote none
};

Json bundle_json(const BundleFacts& facts);
/// Constants for load.cpp, from the finished bundle.json's fields and the artifact's files ("path", "sha256").
std::string sealed_header(const Json& bundle, const Json& note, const Json& artifact_files);
std::string readme_text(const BundleFacts& facts);

}  // namespace fiel
