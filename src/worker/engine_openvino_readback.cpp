#include "worker/engine_openvino_readback.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "base/digest.h"
#include "base/numbers.h"

namespace fiel {
namespace {

// Says nothing of how the model runs: names, lists of names, watching, and the caches of generative
// models.
constexpr std::array<std::string_view, 11> kNotEffective = {"SUPPORTED_PROPERTIES",
                                                            "NETWORK_NAME",
                                                            "PERF_COUNT",
                                                            "LOG_LEVEL",
                                                            "DEVICE_ID",
                                                            "KV_CACHE_PRECISION",
                                                            "KEY_CACHE_PRECISION",
                                                            "VALUE_CACHE_PRECISION",
                                                            "KEY_CACHE_GROUP_SIZE",
                                                            "VALUE_CACHE_GROUP_SIZE",
                                                            "MODEL_PTR"};

std::string word(const ov::Node& node, const std::string& key) {
  const auto found = node.get_rt_info().find(key);
  return found == node.get_rt_info().end() ? "?" : found->second.as<std::string>();
}

bool computes(const std::string& layer_type) {
  return layer_type != "Const" && layer_type != "Input" && layer_type != "Output";
}

// What a node is, but not its name or its time. Which of the model's layers were fused into it is
// not told either: that list is another one after export and import of the same graph.
std::string line_of(const ov::Node& node) {
  std::string line;
  for (const char* key :
       {"layerType", "runtimePrecision", "primitiveType", "outputPrecisions", "outputLayouts"}) {
    line += word(node, key) + ";";
  }
  for (const auto& output : node.outputs()) line += output.get_partial_shape().to_string() + ";";
  for (const auto& input : node.inputs())
    line += word(*input.get_source_output().get_node(), "layerType") + ",";
  return line;
}

}  // namespace

std::vector<NodeTime> times_of_nodes(const ov::CompiledModel& compiled) {
  constexpr double kMicrosecond = 1e-6;
  std::vector<NodeTime> times;
  for (const auto& node : compiled.get_runtime_model()->get_ordered_ops()) {
    const auto microseconds = number_from<double>(word(*node, "execTimeMcs"));
    if (!microseconds || !(*microseconds >= 0)) continue;  // "not_executed"
    NodeTime time{.names = {}, .seconds = *microseconds * kMicrosecond};
    std::istringstream names(word(*node, "originalLayersNames"));
    for (std::string name; std::getline(names, name, ',');) time.names.push_back(name);
    times.push_back(std::move(time));
  }
  return times;
}

ReadBack read_back(const ov::CompiledModel& compiled, const std::vector<CatalogueKnob>& catalogue) {
  ReadBack back;
  for (const ov::PropertyName& name : compiled.get_property(ov::supported_properties)) {
    if (std::ranges::find(kNotEffective, std::string_view(name)) != kNotEffective.end()) continue;
    back.effective[name] = compiled.get_property(name).as<std::string>();
  }
  for (const CatalogueKnob& entry : catalogue) {
    if (entry.readback == "graph") back.effective[entry.knob.name] = "as the graph shows";
  }
  const bool dynamic = std::ranges::any_of(
      compiled.inputs(), [](const auto& input) { return input.get_partial_shape().is_dynamic(); });
  back.effective["shape"] = dynamic ? "dynamic" : "static";

  std::vector<std::string> lines;
  int nodes = 0;
  for (const auto& node : compiled.get_runtime_model()->get_ordered_ops()) {
    lines.push_back(line_of(*node));
    if (!computes(word(*node, "layerType"))) continue;
    ++back.precisions[word(*node, "runtimePrecision")];
    ++nodes;
  }
  std::ranges::sort(lines);  // two runs may order independent branches differently
  Sha256 digest;
  for (const std::string& line : lines) digest.field(line);
  back.graph_digest = digest.hex();
  if (nodes > 0) back.placement[back.effective["EXECUTION_DEVICES"]] = nodes;
  return back;
}

}  // namespace fiel
