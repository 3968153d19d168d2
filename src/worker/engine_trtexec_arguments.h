// Which options does trtexec get for these settings and shapes? Pure: runs nothing. What an option is called, and in which
// versions, stands in knobs_trtexec.toml.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/onnx_model.h"
#include "worker/engine.h"
#include "worker/knob_catalogue.h"

namespace fiel::trtexec {

struct SettingArguments {
  std::vector<std::string> build;
  std::vector<std::string> run;  // of every process that loads the engine
  std::string build_route;         // as trtexec_route.h writes it; empty for the compiler's defaults
};
EngineResult<SettingArguments> arguments_of(const Settings& settings, const std::vector<CatalogueKnob>& catalogue);

/// "GPU", "GPU.1" and "CUDA:1" name devices: 0, 1, 1. So does "CPU", what a contract says that says nothing, and what it must say
/// where engines of the CPU race too: 0.
EngineResult<int> device_index(const std::string& device);

/// The optimisation profile: the smallest, the first and the largest of the traffic's shapes, axis by axis, with batch.
struct Profile {
  std::vector<std::string> arguments;        // --minShapes and so on; none where no input has a dynamic axis
  std::map<std::string, Shape> port_shapes;  // of the inputs: an axis that the profile fixes has its size
};
EngineResult<Profile> profile_of(const OnnxModel& model, const BuildRequest& request);

/// "x:1x3x48x320" for --shapes, "x:in.0.raw" for --loadInputs.
EngineResult<std::string> named_word(const std::string& name, const std::string& word);
std::string shape_word(const Shape& shape);

}  // namespace fiel::trtexec
