// The requests of docs/protocol.md, checked: what is not as the page says is an error that names
// the key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/message.h"
#include "worker/engine.h"
#include "worker/timed_loop.h"

namespace fiel {

struct InferRequest {
  std::int64_t batch = 1;
  std::filesystem::path output_dir;
  std::vector<SampleFiles> samples;
};

struct MeasureRequest {
  InferRequest infer;
  std::string scenario;
  LoopLimits limits;
  std::vector<double> arrivals_seconds;  // server
  std::filesystem::path latency_file;
};

Result<BuildRequest> parse_build(const Json& request);
Result<LoadRequest> parse_load(const Json& request);
/// The links of a load request; none where it has no "state".
Result<std::vector<StateLink>> parse_load_state(const Json& request);
Result<InferRequest> parse_infer(const Json& request);
Result<MeasureRequest> parse_measure(const Json& request);

}  // namespace fiel
