// Static int8: QuantizeLinear/DequantizeLinear pairs with ranges known beforehand.
#include <fmt/format.h>

#include "variant/rewriter_impl.h"

namespace fiel {
namespace {

// x -> QuantizeLinear -> DequantizeLinear; returns the name of what comes out.
std::string add_activation_pair(onnx::GraphProto& whole, const std::string& activation, const Range& range, Activations kind) {
  const std::string name = "fiel/" + activation;
  if (kind == Activations::kUInt8) {
    const UInt8Scale scale = uint8_scale(range);
    graph::add_constant<float>(whole, name + "/scale", onnx::TensorProto::FLOAT, {}, {scale.scale});
    graph::add_constant<std::uint8_t>(whole, name + "/zero", onnx::TensorProto::UINT8, {}, {scale.zero_point});
  } else {
    graph::add_constant<float>(whole, name + "/scale", onnx::TensorProto::FLOAT, {}, {int8_scale(range)});
    graph::add_constant<std::int8_t>(whole, name + "/zero", onnx::TensorProto::INT8, {}, {0});
  }
  graph::add_node(whole, "QuantizeLinear", {activation, name + "/scale", name + "/zero"}, name + "/8bit");
  graph::add_node(whole, "DequantizeLinear", {name + "/8bit", name + "/scale", name + "/zero"}, name + "/float");
  return name + "/float";
}

}  // namespace

Result<> Rewriter::write_int8(const std::filesystem::path& file, const Ranges& ranges, const Int8Choice& choice) const {
  graph::Nodes nodes;
  onnx::ModelProto model = impl_->copy_without_nodes(nodes);
  onnx::GraphProto& whole = *model.mutable_graph();
  std::map<std::string, std::string> activations, weights;  // what stands in a tensor's place
  std::size_t region = 0;
  for (int i = 0; i < nodes.size(); ++i) {
    onnx::NodeProto& node = nodes[i];
    const bool is_region = region < impl_->nodes.size() && impl_->nodes[region] == i;
    if (is_region && choice.regions.contains(impl_->regions[region].name)) {
      const std::string activation = node.input(0), weight = node.input(1);
      FIEL_CHECK(ranges.contains(activation));
      if (!activations.contains(activation)) {
        activations[activation] = add_activation_pair(whole, activation, ranges.at(activation), choice.activations);
      }
      const int axis = graph::channel_axis(node, impl_->weights(region));
      std::string& in_place = weights[fmt::format("{}@{}", weight, axis)];
      if (in_place.empty()) in_place = graph::add_dequantised(whole, weight, impl_->weights(region), axis, choice.weight_bits);
      node.set_input(0, activations.at(activation));
      node.set_input(1, in_place);
    }
    if (is_region) ++region;
    *whole.add_node() = std::move(node);
  }
  graph::drop_unused_constants(whole);
  return graph::write_model(std::move(model), file);
}

}  // namespace fiel
