// Int8 without ranges: activations quantised as they come (ONNX's DynamicQuantizeLinear and MatMulInteger), or weights alone.
//
// The nodes stand in the order that engines know: x -> DynamicQuantizeLinear -> MatMulInteger -> Cast -> Mul with the product of
// both scales -> Add of a Gemm's bias.
#include <fmt/format.h>

#include "variant/rewriter_impl.h"

namespace fiel {
namespace {

std::string why_not_dynamic(const onnx::NodeProto& node) {
  if (node.op_type() == "Conv") return "Conv has no dynamic form that engines run fast";
  if (graph::integer(node, "transA", 0) != 0) return "its first input is transposed";
  for (const char* factor : {"alpha", "beta"}) {
    const auto* found = graph::find_attribute(node, factor);
    if (found != nullptr && found->f() != 1.0F) return fmt::format("it has a factor {}", factor);
  }
  return {};
}

struct Weights {
  std::string values, scales;  // names of constants
};

// The values as MatMulInteger wants them: channels on the last axis.
Weights add_weights(onnx::GraphProto& whole, const onnx::NodeProto& node, const onnx::TensorProto& tensor, int bits) {
  const int axis = graph::channel_axis(node, tensor);
  graph::QuantisedWeights quantised = graph::quantise(*graph::floats_of(tensor), tensor, axis, bits);
  std::vector<std::int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  if (axis == 0) {  // a Gemm's with transB: two axes
    const auto rows = static_cast<std::size_t>(dims[0]), columns = static_cast<std::size_t>(dims[1]);
    std::vector<std::int8_t> turned(quantised.values.size());
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) turned[c * rows + r] = quantised.values[r * columns + c];
    }
    quantised.values = std::move(turned);
    std::swap(dims[0], dims[1]);
  }
  const std::string name = fmt::format("fiel/{}/{}", node.input(1), axis);
  graph::add_constant(whole, name + "/int8", onnx::TensorProto::INT8, dims, quantised.values);
  graph::add_constant(whole, name + "/scales", onnx::TensorProto::FLOAT, {dims.back()}, quantised.scales);
  return {name + "/int8", name + "/scales"};
}

}  // namespace

Result<std::vector<LeftOut>> Rewriter::write_dynamic_int8(const std::filesystem::path& file, int weight_bits) const {
  graph::Nodes nodes;
  onnx::ModelProto model = impl_->copy_without_nodes(nodes);
  onnx::GraphProto& whole = *model.mutable_graph();
  std::vector<LeftOut> left;
  std::map<std::string, Weights> weights;
  std::set<std::string> activations;
  std::size_t region = 0;
  for (int i = 0; i < nodes.size(); ++i) {
    onnx::NodeProto& node = nodes[i];
    const bool is_region = region < impl_->nodes.size() && impl_->nodes[region] == i;
    const std::size_t number = region;
    if (is_region) ++region;
    const std::string why = is_region ? why_not_dynamic(node) : "";
    if (!why.empty()) left.push_back({graph::name_of(node), why});
    if (!is_region || !why.empty()) {
      *whole.add_node() = std::move(node);
      continue;
    }
    const std::string x = "fiel/" + node.input(0) + "/dynamic";
    if (activations.insert(x).second) {
      onnx::NodeProto& quantise = graph::add_node(whole, "DynamicQuantizeLinear", {node.input(0)}, x);
      quantise.add_output(x + "/scale");
      quantise.add_output(x + "/zero");
    }
    const int axis = graph::channel_axis(node, impl_->weights(number));
    Weights& own = weights[fmt::format("{}@{}", node.input(1), axis)];
    if (own.values.empty()) own = add_weights(whole, node, impl_->weights(number), weight_bits);
    const std::string& y = node.output(0);
    const bool has_bias = node.input_size() > 2 && !node.input(2).empty();
    const std::string name = "fiel/" + y;
    graph::add_node(whole, "MatMulInteger", {x, own.values, x + "/zero"}, name + "/int32");
    graph::add_attribute(graph::add_node(whole, "Cast", {name + "/int32"}, name + "/float"), "to", onnx::TensorProto::FLOAT);
    graph::add_node(whole, "Mul", {x + "/scale", own.scales}, name + "/scales");
    onnx::NodeProto* last = &graph::add_node(whole, "Mul", {name + "/float", name + "/scales"}, has_bias ? name + "/product" : y);
    if (has_bias) last = &graph::add_node(whole, "Add", {name + "/product", node.input(2)}, y);
    last->set_name(graph::name_of(node));
  }
  graph::drop_unused_constants(whole);
  FIEL_TRY(graph::write_model(std::move(model), file));
  return left;
}

Result<> Rewriter::write_weight_int8(const std::filesystem::path& file) const {
  graph::Nodes nodes;
  onnx::ModelProto model = impl_->copy_without_nodes(nodes);
  onnx::GraphProto& whole = *model.mutable_graph();
  std::map<std::string, std::string> weights;
  std::size_t region = 0;
  for (int i = 0; i < nodes.size(); ++i) {
    onnx::NodeProto& node = nodes[i];
    if (region < impl_->nodes.size() && impl_->nodes[region] == i) {
      const int axis = graph::channel_axis(node, impl_->weights(region));
      std::string& in_place = weights[fmt::format("{}@{}", node.input(1), axis)];
      if (in_place.empty()) in_place = graph::add_dequantised(whole, node.input(1), impl_->weights(region), axis, 8);
      node.set_input(1, in_place);
      ++region;
    }
    *whole.add_node() = std::move(node);
  }
  graph::drop_unused_constants(whole);
  return graph::write_model(std::move(model), file);
}

}  // namespace fiel
