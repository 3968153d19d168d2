// Channels of an activation that are much larger than the others, made smaller before it is rounded, and the weights that they
// meet made larger. Private to variant/.
//
//   Y = (X diag(s)^-1) (diag(s) W),   s_j = max|X_j|^a / max|W_j|^(1-a),   a = 1/2
//
// (Xiao et al. 2022, "SmoothQuant: Accurate and Efficient Post-Training Quantization for Large Language Models", equation 4.)
// The division is free where a LayerNormalization, or a Mul and an Add with constants as older exports have it, makes the
// activation for products alone: it goes into their constants. Elsewhere it is a Mul of its own.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "variant/graph.h"
#include "variant/rewriter.h"

namespace fiel {

/// One activation for all products that read it.
struct Smooth {
  std::vector<float> factors;  // s, by channel
  Range range;                 // of what comes out
  std::string activation;      // its name
  std::set<std::string> regions = {};  // that read it
};

/// max|X_j|^a / max|W_j|^(1-a); 1 for a channel of zeros on either side.
std::vector<float> smoothing_factors(const std::vector<double>& largest_x, const std::vector<float>& largest_w);

/// By activation, of the MatMul and Gemm nodes that `choice` names. Changes `nodes` and adds constants and Mul nodes to `whole`,
/// the latter in `before`: number of the node before which they must stand.
struct Smoothed {
  std::map<std::string, Smooth> activations;
  std::map<int, std::vector<onnx::NodeProto>> before;
};

struct SmoothingInput {
  const std::vector<Region>& regions;
  const std::vector<int>& nodes_of_regions;
  const graph::Constants& constants;
};
Smoothed smooth(onnx::GraphProto& whole, graph::Nodes& nodes, const SmoothingInput& input, const Int8Choice& choice);

/// The weights with each input channel times its factor.
onnx::TensorProto scaled(const onnx::NodeProto& node, const onnx::TensorProto& weights, const std::vector<float>& factors);

}  // namespace fiel
