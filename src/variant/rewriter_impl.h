// What a Rewriter holds. Private to variant/.
#pragma once

#include "variant/graph.h"
#include "variant/rewriter.h"

namespace fiel {

struct Rewriter::Impl {
  onnx::ModelProto model;       // at opset 13 or later, all weights in it
  std::int64_t opset = 13;
  graph::Constants constants;   // of `model`, which does not change any more
  std::vector<Region> regions;
  std::set<std::string> activations;  // of the regions
  std::vector<int> nodes;       // of the regions
  std::vector<LeftOut> left_out;

  const onnx::NodeProto& node(std::size_t region) const { return model.graph().node(nodes[region]); }
  const onnx::TensorProto& weights(std::size_t region) const { return *constants.at(node(region).input(1)); }

  /// A copy of the model, its nodes put aside in `nodes_aside` to be added again, changed.
  onnx::ModelProto copy_without_nodes(graph::Nodes& nodes_aside) const;
};

}  // namespace fiel
