#include "variant/smoothing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "variant/bias.h"

namespace fiel {
namespace {

constexpr double kAlpha = 0.5;         // how much of the trouble moves to the weights; the paper's value for most models
constexpr double kMostFactor = 1e4;    // and its inverse: beyond that float32 itself suffers

// The weights' largest sizes by input channel.
void take_largest(std::vector<float>& largest, const onnx::NodeProto& node, const onnx::TensorProto& weights) {
  const std::vector<float> values = *graph::floats_of(weights);
  for (std::size_t k = 0; k < values.size(); ++k) {
    float& one = largest.at(input_channel_of(node, weights, k));
    one = std::max(one, std::abs(values[k]));
  }
}

int producer_of(const graph::Nodes& nodes, const std::string& tensor) {
  for (int i = 0; i < nodes.size(); ++i) {
    if (std::ranges::find(nodes[i].output(), tensor) != nodes[i].output().end()) return i;
  }
  return -1;
}

std::int64_t readers_of(const onnx::GraphProto& whole, const graph::Nodes& nodes, const std::string& tensor) {
  std::int64_t count = 0;
  for (const onnx::NodeProto& node : nodes) count += std::ranges::count(node.input(), tensor);
  for (const onnx::ValueInfoProto& output : whole.output()) count += output.name() == tensor ? 1 : 0;
  return count;
}

// Divides a constant of one element a channel; false: it is no such constant.
bool divide(onnx::GraphProto& whole, std::string& input, const graph::Constants& constants, const std::vector<float>& factors,
            const std::string& activation) {
  auto values = graph::floats_by_channel(constants, input, factors.size());
  if (!values) return false;
  for (std::size_t i = 0; i < values->size(); ++i) (*values)[i] /= factors[i];
  const std::string name = fmt::format("fiel/{}/smooth/{}", activation, input);
  const auto& dims = constants.at(input)->dims();
  if (!graph::has_constant(whole, name)) graph::add_constant(whole, name, onnx::TensorProto::FLOAT, {dims.begin(), dims.end()}, *values);
  input = name;
  return true;
}

// Of a node with two inputs of which one is a constant: that one's place; -1: it is not so.
int constant_place(const onnx::NodeProto& node, const graph::Constants& constants) {
  if (node.input_size() != 2 || constants.contains(node.input(0)) == constants.contains(node.input(1))) return -1;
  return constants.contains(node.input(0)) ? 0 : 1;
}

// The division inside the constants of what makes the activation; false: nothing was changed.
bool fold(onnx::GraphProto& whole, graph::Nodes& nodes, const graph::Constants& constants, const std::string& activation,
          const std::vector<float>& factors) {
  const int last = producer_of(nodes, activation);
  if (last < 0) return false;
  std::vector<std::pair<int, int>> places;  // node, input
  if (nodes[last].op_type() == "LayerNormalization") {
    places.emplace_back(last, 1);
    if (nodes[last].input_size() > 2 && !nodes[last].input(2).empty()) places.emplace_back(last, 2);
  } else if (const int place = constant_place(nodes[last], constants); place >= 0 && nodes[last].op_type() == "Add") {
    const std::string& scaled_by = nodes[last].input(1 - place);
    const int mul = producer_of(nodes, scaled_by);
    if (mul < 0 || nodes[mul].op_type() != "Mul" || readers_of(whole, nodes, scaled_by) != 1) return false;
    const int mul_place = constant_place(nodes[mul], constants);
    if (mul_place < 0) return false;
    places = {{last, place}, {mul, mul_place}};
  } else if (place >= 0 && nodes[last].op_type() == "Mul") {
    places.emplace_back(last, place);
  }
  if (places.empty()) return false;
  std::vector<std::string> divided;
  for (const auto& [node, input] : places) {
    std::string name = nodes[node].input(input);
    if (!divide(whole, name, constants, factors, activation)) return false;  // constants without a reader are dropped later
    divided.push_back(std::move(name));
  }
  for (std::size_t i = 0; i < places.size(); ++i) nodes[places[i].first].set_input(places[i].second, divided[i]);
  return true;
}

}  // namespace

std::vector<float> smoothing_factors(const std::vector<double>& largest_x, const std::vector<float>& largest_w) {
  std::vector<float> factors;
  for (std::size_t j = 0; j < largest_x.size(); ++j) {
    const double s = std::pow(largest_x[j], kAlpha) / std::pow(static_cast<double>(largest_w[j]), 1 - kAlpha);
    const bool fine = std::isnormal(s) && largest_x[j] > 0 && largest_w[j] > 0;
    factors.push_back(fine ? static_cast<float>(std::clamp(s, 1 / kMostFactor, kMostFactor)) : 1.0F);
  }
  return factors;
}

Smoothed smooth(onnx::GraphProto& whole, graph::Nodes& nodes, const SmoothingInput& input, const Int8Choice& choice) {
  std::map<std::string, std::vector<std::size_t>> readers;  // regions by activation
  for (std::size_t i = 0; i < input.regions.size(); ++i) {
    const Region& region = input.regions[i];
    const onnx::NodeProto& node = nodes[input.nodes_of_regions[i]];
    const auto seen = choice.channels.find(region.name);
    if (!choice.regions.contains(region.name) || region.op == "Conv" || seen == choice.channels.end()) continue;
    const auto channels = std::ssize(seen->second.lows);
    if (channels == 0 || std::ssize(seen->second.highs) != channels) continue;
    if (input_channels(node, *input.constants.at(node.input(1))) != channels) continue;
    auto& others = readers[region.activation];
    const bool alike = others.empty() || std::ssize(choice.channels.at(input.regions[others.front()].name).lows) == channels;
    if (alike) others.push_back(i);
  }
  Smoothed result;
  for (const auto& [activation, regions] : readers) {
    const Channels& channels = choice.channels.at(input.regions[regions.front()].name);
    std::vector<double> largest_x;
    for (std::size_t j = 0; j < channels.lows.size(); ++j) largest_x.push_back(std::max(std::abs(channels.lows[j]), std::abs(channels.highs[j])));
    std::vector<float> largest_w(largest_x.size(), 0.0F);
    for (const std::size_t i : regions) {
      const onnx::NodeProto& node = nodes[input.nodes_of_regions[i]];
      take_largest(largest_w, node, *input.constants.at(node.input(1)));
    }
    Smooth one{.factors = smoothing_factors(largest_x, largest_w), .range = {}, .activation = activation};
    for (std::size_t j = 0; j < largest_x.size(); ++j) {
      one.range.low = std::min(one.range.low, channels.lows[j] / one.factors[j]);
      one.range.high = std::max(one.range.high, channels.highs[j] / one.factors[j]);
    }
    for (const std::size_t i : regions) one.regions.insert(input.regions[i].name);
    const bool only_these = readers_of(whole, nodes, activation) == std::ssize(regions);
    if (!only_these || !fold(whole, nodes, input.constants, activation, one.factors)) {
      std::vector<float> inverse;
      for (const float factor : one.factors) inverse.push_back(1 / factor);
      one.activation = "fiel/" + activation + "/smooth";
      graph::add_constant(whole, one.activation + "/by", onnx::TensorProto::FLOAT, {std::ssize(inverse)}, inverse);
      onnx::NodeProto mul;
      mul.set_op_type("Mul");
      mul.set_name(one.activation);
      mul.add_input(activation);
      mul.add_input(one.activation + "/by");
      mul.add_output(one.activation);
      result.before[input.nodes_of_regions[regions.front()]].push_back(std::move(mul));
    }
    result.activations[activation] = std::move(one);
  }
  return result;
}

onnx::TensorProto scaled(const onnx::NodeProto& node, const onnx::TensorProto& weights, const std::vector<float>& factors) {
  std::vector<float> values = *graph::floats_of(weights);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] *= factors.at(input_channel_of(node, weights, k));
  onnx::TensorProto tensor;
  tensor.set_name(weights.name());
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  *tensor.mutable_dims() = weights.dims();
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  return tensor;
}

}  // namespace fiel
