#include "variant/bias.h"

#include <algorithm>

#include "variant/graph.h"

namespace fiel {

std::int64_t input_channels(const onnx::NodeProto& node, const onnx::TensorProto& weights) {
  if (node.op_type() == "Conv") {
    const std::int64_t groups = graph::integer(node, "group", 1);
    return groups >= 1 && groups <= weights.dims(0) ? weights.dims(1) * groups : 0;  // an absurd number is the engine's to refuse
  }
  if (weights.dims_size() != 2 || graph::integer(node, "transA", 0) != 0) return 0;
  return weights.dims(1 - graph::channel_axis(node, weights));
}

std::size_t input_channel_of(const onnx::NodeProto& node, const onnx::TensorProto& weights, std::size_t k) {
  const int axis = graph::channel_axis(node, weights);
  if (node.op_type() != "Conv") return graph::channel_of(weights, 1 - axis, k);
  const auto groups = static_cast<std::size_t>(std::max<std::int64_t>(1, graph::integer(node, "group", 1)));
  const auto outputs = static_cast<std::size_t>(weights.dims(0)), inputs = static_cast<std::size_t>(weights.dims(1));
  const std::size_t group = graph::channel_of(weights, 0, k) * groups / outputs;
  return group * inputs + graph::channel_of(weights, 1, k);
}

std::vector<float> mean_error(const onnx::NodeProto& node, const onnx::TensorProto& weights, int weight_bits,
                              std::span<const double> means) {
  if (means.empty() || input_channels(node, weights) != std::ssize(means)) return {};
  const int axis = graph::channel_axis(node, weights);
  const std::vector<float> values = *graph::floats_of(weights);
  const graph::QuantisedWeights quantised = graph::quantise(values, weights, axis, weight_bits);
  std::vector<double> sums(quantised.scales.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::size_t output = graph::channel_of(weights, axis, k), input = input_channel_of(node, weights, k);
    sums[output] += (static_cast<double>(values[k]) - static_cast<double>(quantised.scales[output]) * quantised.values[k]) * means[input];
  }
  return {sums.begin(), sums.end()};
}

}  // namespace fiel
