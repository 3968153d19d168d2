// Which engines work here? Asks each worker program once, outside any run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "contract/contract.h"
#include "decide/variants.h"
#include "pool/requests.h"
#include "route/space.h"

namespace fiel {

struct EngineFound {
  EngineTarget target;
  std::optional<HelloResult> hello;
  std::string problem;  // why there is no hello, and what to do
};

/// Asks a worker that was just started who it is, and ends it.
Outcome<HelloResult> ask_hello(Outcome<std::unique_ptr<Worker>> started, double deadline_seconds);

/// Never fails: an engine that is missing or broken says so. kCancelled is told as a problem too.
EngineFound find_engine(const EngineTarget& target, int cancel_fd);
/// The same where the workers of a run are; `folder` is the run's.
EngineFound find_engine(const EngineTarget& target, WorkerPool& pool, const std::filesystem::path& folder);

/// The engines that fiel has workers of its own for.
std::vector<EngineTarget> known_engines();

/// Those of them that work here, for a contract that is being written; never empty, so that there is one to complain about.
std::vector<std::string> engines_here(int cancel_fd);

/// Of these the ones that may read this model: only OpenVINO takes other formats than ONNX's.
std::vector<std::string> engines_for(const OnnxModel& model, int cancel_fd);

/// The knobs that count under a contract: batch only in `offline`, parallel_requests not in `single_stream`, static shapes only where one shape is served, and the
/// model's variants.
EngineSpace space_of(const HelloResult& hello, const std::string& name, const Contract& contract, std::size_t shapes,
                     const VariantKnob& variants);

}  // namespace fiel
