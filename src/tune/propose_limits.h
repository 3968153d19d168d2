// Which tolerance is right? Not one from a table: right answers differ by as much as the order of their additions, the number of
// threads and the engine make them differ. So that is measured: the reference's own route in fresh processes, and each other
// engine's strict float32, against the reference. What lies within ten times of it says nothing against a candidate.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "decide/lab.h"

namespace fiel {

/// What right answers differ by in one output, at most over all samples and all that were asked.
struct OutputNoise {
  double l2 = 0;       // relative, of a sample's whole tensor
  double max_abs = 0;
  std::int64_t compared = 0, same_bits = 0;  // samples
};

struct ProposedLimits {
  std::map<std::string, OutputNoise> outputs;  // those of floating type
  std::vector<std::string> asked;              // "engine=openvino ..., a fresh process"
  std::vector<std::string> left_out;           // and why

  /// To be put into a contract.
  std::string toml() const;
};

/// Makes the reference and asks. Reads the tuning set only.
Result<ProposedLimits> propose_limits(Lab& lab);

}  // namespace fiel
