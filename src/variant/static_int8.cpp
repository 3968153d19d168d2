// Static int8: QuantizeLinear/DequantizeLinear pairs with ranges known beforehand.
#include <fmt/format.h>

#include <algorithm>

#include "variant/bias.h"
#include "variant/rewriter_impl.h"
#include "variant/smoothing.h"

namespace fiel {
namespace {

// tensor -> QuantizeLinear -> DequantizeLinear -> rounded. Its parts are named after `activation`.
void add_pair(onnx::GraphProto& whole, const std::string& activation, const std::string& tensor, const std::string& rounded, const Range& range,
              Activations kind) {
  const std::string name = "fiel/" + activation;
  if (kind == Activations::kUInt8) {
    const UInt8Scale scale = uint8_scale(range);
    graph::add_constant<float>(whole, name + "/scale", onnx::TensorProto::FLOAT, {}, {scale.scale});
    graph::add_constant<std::uint8_t>(whole, name + "/zero", onnx::TensorProto::UINT8, {}, {scale.zero_point});
  } else {
    graph::add_constant<float>(whole, name + "/scale", onnx::TensorProto::FLOAT, {}, {int8_scale(range)});
    graph::add_constant<std::int8_t>(whole, name + "/zero", onnx::TensorProto::INT8, {}, {0});
  }
  graph::add_node(whole, "QuantizeLinear", {tensor, name + "/scale", name + "/zero"}, name + "/8bit");
  graph::add_node(whole, "DequantizeLinear", {name + "/8bit", name + "/scale", name + "/zero"}, rounded);
}

// A constant with `correction` added to it; empty: the tensor is no constant of one element a channel.
std::string add_corrected(onnx::GraphProto& whole, const std::string& bias, const graph::Constants& constants,
                          const std::vector<float>& correction) {
  auto values = graph::floats_by_channel(constants, bias, correction.size());
  const std::string name = fmt::format("fiel/{}/corrected", bias);
  if (!values || graph::has_constant(whole, name)) return {};  // the first of two nodes with one bias
  for (std::size_t i = 0; i < values->size(); ++i) (*values)[i] += correction[i];
  const auto& dims = constants.at(bias)->dims();
  graph::add_constant(whole, name, onnx::TensorProto::FLOAT, {dims.begin(), dims.end()}, *values);
  return name;
}

// The one node that reads a tensor, if it is an Add with a constant whose last axis is the channels.
onnx::NodeProto* add_behind(const onnx::GraphProto& whole, graph::Nodes& nodes, const std::string& tensor) {
  onnx::NodeProto* reader = nullptr;
  for (onnx::NodeProto& node : nodes) {
    const auto count = std::ranges::count(node.input(), tensor);
    if (count == 0) continue;
    if (count > 1 || reader != nullptr) return nullptr;
    reader = &node;
  }
  const bool is_output = std::ranges::any_of(whole.output(), [&](const auto& one) { return one.name() == tensor; });
  return reader != nullptr && !is_output && reader->op_type() == "Add" ? reader : nullptr;
}

// Puts the correction where the node's bias is. A product without one stays as it is: an Add of its own would cost time.
void correct_bias(onnx::GraphProto& whole, graph::Nodes& nodes, int number, const graph::Constants& constants,
                  const std::vector<float>& correction) {
  if (correction.empty()) return;
  onnx::NodeProto& node = nodes[number];
  const bool has_bias = node.input_size() > 2 && !node.input(2).empty();
  if (node.op_type() == "MatMul") {
    onnx::NodeProto* add = add_behind(whole, nodes, node.output(0));
    if (add == nullptr) return;
    const int place = add->input(0) == node.output(0) ? 1 : 0;
    if (const std::string name = add_corrected(whole, add->input(place), constants, correction); !name.empty()) add->set_input(place, name);
    return;
  }
  if (!has_bias) {
    const std::string name = fmt::format("fiel/{}/bias", node.output(0));
    graph::add_constant(whole, name, onnx::TensorProto::FLOAT, {std::ssize(correction)}, correction);
    if (node.input_size() > 2) node.set_input(2, name);
    else node.add_input(name);
    return;
  }
  if (const std::string name = add_corrected(whole, node.input(2), constants, correction); !name.empty()) node.set_input(2, name);
}

// Gemm's factors would have to be undone.
bool has_factors(const onnx::NodeProto& node) {
  return std::ranges::any_of(node.attribute(), [](const auto& one) { return (one.name() == "alpha" || one.name() == "beta") && one.f() != 1.0F; });
}

struct Rounded {
  const std::map<std::string, std::string>& activations;  // by region, what is rounded for it
  const std::set<std::string>& results;                   // what is rounded for all that read it
  const Ranges& ranges;
  const Smoothed& smoothed;
  Activations kind;
};

// All nodes, each pair of an activation before the first region that reads it. Behind a node whose result is rounded for all comes
// the pair under the result's own name, and the node writes elsewhere.
void add_in_order(onnx::GraphProto& whole, graph::Nodes& nodes, const std::vector<Region>& regions, const std::vector<int>& places,
                  const Rounded& rounded) {
  std::map<std::string, std::string> pairs;  // what comes out of them
  std::size_t region = 0;
  for (int i = 0; i < nodes.size(); ++i) {
    if (const auto before = rounded.smoothed.before.find(i); before != rounded.smoothed.before.end()) {
      for (const onnx::NodeProto& mul : before->second) *whole.add_node() = mul;
    }
    const bool is_region = region < places.size() && places[region] == i;
    const auto found = is_region ? rounded.activations.find(regions[region].name) : rounded.activations.end();
    if (found != rounded.activations.end() && !rounded.results.contains(found->second)) {
      const std::string& activation = found->second;
      std::string& pair = pairs[activation];
      if (pair.empty()) {
        pair = fmt::format("fiel/{}/float", activation);
        add_pair(whole, activation, activation, pair, rounded.ranges.at(activation), rounded.kind);
      }
      nodes[i].set_input(0, pair);
    }
    if (is_region) ++region;
    const std::string result = nodes[i].output().empty() ? std::string() : nodes[i].output(0);
    onnx::NodeProto& added = *whole.add_node();
    added = std::move(nodes[i]);
    if (!rounded.results.contains(result)) continue;
    added.set_output(0, fmt::format("fiel/{}/exact", result));
    add_pair(whole, result, added.output(0), result, rounded.ranges.at(result), rounded.kind);
  }
}

}  // namespace

Result<> Rewriter::write_int8(const std::filesystem::path& file, const Ranges& ranges, const Int8Choice& choice) const {
  graph::Nodes nodes;
  onnx::ModelProto model = impl_->copy_without_nodes(nodes);
  onnx::GraphProto& whole = *model.mutable_graph();
  Smoothed smoothed;
  if (choice.smoothing == Smoothing::kHalf) {
    smoothed = smooth(whole, nodes, {.regions = impl_->regions, .nodes_of_regions = impl_->nodes, .constants = impl_->constants}, choice);
  }
  Ranges all_ranges = ranges;
  for (const auto& [activation, one] : smoothed.activations) all_ranges[one.activation] = one.range;
  std::map<std::string, std::string> activations;  // by region, what it reads before that is rounded
  std::map<std::string, std::string> weights;      // what stands in their place
  std::set<std::string> results;
  for (std::size_t region = 0; region < impl_->nodes.size(); ++region) {
    const Region& one = impl_->regions[region];
    if (!choice.regions.contains(one.name)) continue;
    onnx::NodeProto& node = nodes[impl_->nodes[region]];
    const auto smooth = smoothed.activations.find(one.activation);
    const bool is_smooth = smooth != smoothed.activations.end() && smooth->second.regions.contains(one.name);
    const std::string activation = is_smooth ? smooth->second.activation : one.activation, weight = node.input(1);
    FIEL_CHECK(ranges.contains(one.activation));
    onnx::TensorProto larger;  // where the activation was made smaller
    if (is_smooth) larger = scaled(node, impl_->weights(region), smooth->second.factors);
    const onnx::TensorProto& tensor = is_smooth ? larger : impl_->weights(region);
    const int axis = graph::channel_axis(node, tensor);
    if (const auto seen = choice.channels.find(one.name); choice.bias == Bias::kCorrected && seen != choice.channels.end() && !has_factors(node)) {
      std::vector<double> means = seen->second.means;
      for (std::size_t j = 0; is_smooth && j < means.size(); ++j) means[j] /= smooth->second.factors[j];
      correct_bias(whole, nodes, impl_->nodes[region], impl_->constants, mean_error(node, tensor, choice.weight_bits, means));
    }
    std::string& in_place = weights[fmt::format("{}@{}@{}", weight, axis, is_smooth ? activation : "")];
    if (in_place.empty()) {
      in_place = graph::add_dequantised(whole, is_smooth ? fmt::format("{}/{}", weight, one.name) : weight, tensor, axis, choice.weight_bits);
    }
    node.set_input(1, in_place);
    activations[one.name] = activation;
    if (choice.results == Results::kRounded && ranges.contains(one.result)) results.insert(one.result);
  }
  add_in_order(whole, nodes, impl_->regions, impl_->nodes, {activations, results, all_ranges, smoothed, choice.activations});
  graph::drop_unused_constants(whole);
  return graph::write_model(std::move(model), file);
}

}  // namespace fiel
