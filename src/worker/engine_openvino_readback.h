// What OpenVINO says that it really built: effective properties and the nodes of the graph that runs.
#pragma once

#include <openvino/openvino.hpp>
#include <string>
#include <vector>

#include "worker/engine.h"
#include "worker/knob_catalogue.h"

namespace fiel {

struct ReadBack {
  Settings effective;
  std::map<std::string, int>
      precisions;  // of nodes that compute; constants, inputs and outputs do not
  std::map<std::string, int> placement;
  std::string graph_digest;
};

/// Of a model compiled with PERF_COUNT, after inferences.
std::vector<NodeTime> times_of_nodes(const ov::CompiledModel& compiled);

ReadBack read_back(const ov::CompiledModel& compiled, const std::vector<CatalogueKnob>& catalogue);

}  // namespace fiel
