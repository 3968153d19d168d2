// The files that trtexec leaves: latencies (--exportTimes), outputs (--dumpRawBindingsToFile) and layers (--exportLayerInfo).
// Outputs come from the raw files and not from --exportOutput, whose text has six digits and, for NaN, is no JSON.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "worker/engine.h"

namespace fiel::trtexec {

/// One query of --exportTimes. Times of one trace have one origin.
struct Query {
  double start_seconds = 0;    // of its input transfer
  double end_seconds = 0;      // of its output transfer
  double latency_seconds = 0;  // input transfer, compute and output transfer
  double compute_seconds = 0;  // the GPU's kernels alone
};
/// In the order of the file. Empty traces, negative or infinite times are errors.
EngineResult<std::vector<Query>> read_times(const std::filesystem::path& path);

/// The outputs in the order of `ports`, from what trtexec said that it wrote into `folder`.
EngineResult<std::vector<Tensor>> read_outputs(const std::string& text, const std::filesystem::path& folder,
                                               const std::vector<EnginePort>& ports);

/// How many layers give which type, by --exportLayerInfo; empty where it says no types.
std::map<std::string, int> precisions_in(const Json& layers);

}  // namespace fiel::trtexec
