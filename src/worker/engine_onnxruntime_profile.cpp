#include "worker/engine_onnxruntime_profile.h"

#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "worker/guard.h"

namespace fiel {
namespace {

constexpr std::string_view kNode = "_kernel_time";
constexpr std::string_view kFused = "fused ";
constexpr std::array<std::string_view, 2> kEndings = {"_nchwc", "/fused"};
constexpr double kMicrosecond = 1e-6;

// "fused conv_nchwc" -> "conv"
std::string name_in_model(std::string_view name) {
  if (name.starts_with(kFused)) name.remove_prefix(kFused.size());
  for (const std::string_view ending : kEndings) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  return std::string(name);
}

}  // namespace

EngineResult<std::vector<NodeTime>> times_in_profile(std::string_view json) {
  const Json events = FIEL_TRY_REQUEST(parse_json(json));
  std::map<std::string, double> microseconds;
  int inferences = 0;
  for (const Json& event : events) {
    if (!event.is_object() || !event.contains("name")) continue;
    const std::string name = FIEL_TRY_REQUEST(get_string(event, "name"));
    if (name == "model_run") ++inferences;
    if (!name.ends_with(kNode)) continue;
    microseconds[name_in_model(std::string_view(name).substr(0, name.size() - kNode.size()))] +=
        FIEL_TRY_REQUEST(get_number(event, "dur"));
  }
  if (inferences == 0) return engine_fail("internal", "ONNX Runtime's profile has no inference");
  std::vector<NodeTime> times;
  for (const auto& [name, sum] : microseconds) times.push_back({.names = {name}, .seconds = sum * kMicrosecond / inferences});
  return times;
}

}  // namespace fiel
