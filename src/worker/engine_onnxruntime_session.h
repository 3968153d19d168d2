// Settings as ONNX Runtime's session options, and what a session really does with them. Private to engine_onnxruntime*.
#pragma once

#include <onnxruntime_cxx_api.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "worker/engine.h"
#include "worker/engine_onnxruntime_placement.h"
#include "worker/engine_onnxruntime_provider.h"
#include "worker/knob_catalogue.h"

namespace fiel {

/// Settings that shape the graph act when the artifact is made; the others whenever a session is opened.
struct SessionPlan {
  Settings graph;
  Settings run;
};

/// Knobs at the value that is ONNX Runtime's own default are left out; so are those that are no session options. `unsupported`
/// for a name that is in no catalogue.
EngineResult<SessionPlan> plan_session(const Settings& settings, const std::vector<CatalogueKnob>& catalogue);

EngineResult<> apply(Ort::SessionOptions& options, const Settings& settings);

/// For ONNX Runtime's own logging: `log` is a SessionLog. Warnings are printed.
void ORT_API_CALL take_log(void* log, OrtLoggingLevel severity, const char* category, const char* id, const char* place,
                           const char* message);

/// The setting `parallel_requests`, 1 if left out.
EngineResult<int> requests_of(const Settings& settings);

/// Names, dtypes and shapes; `unsupported` for what fiel does not carry.
EngineResult<std::vector<EnginePort>> input_ports(const Ort::Session& session);
EngineResult<std::vector<EnginePort>> output_ports(const Ort::Session& session);

ONNXTensorElementDataType to_onnx(DType dtype);

/// The error's reason, by ONNX Runtime's code and words.
EngineError error_of(const Ort::Exception& error);

/// Kernel ids of this process's threads, to see which a session starts. A number of them would not do: a joined thread of the
/// session before can stay listed for a moment.
std::set<std::string> own_threads();

}  // namespace fiel
