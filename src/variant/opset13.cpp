#include "variant/opset13.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "variant/graph.h"

namespace fiel {
namespace {

constexpr std::int64_t kWanted = 13;
constexpr std::int64_t kOldest = 11;

// Squeeze, Unsqueeze, ReduceSum, Split: a list that was an attribute is the last input.
void attribute_to_input(onnx::GraphProto& whole, onnx::NodeProto& node, const char* name, int number) {
  const auto* found = graph::find_attribute(node, name);
  if (found == nullptr) return;
  onnx::TensorProto& list = *whole.add_initializer();
  list.set_name(fmt::format("fiel/{}/{}", name, number));
  list.set_data_type(onnx::TensorProto::INT64);
  list.add_dims(found->ints_size());
  for (const std::int64_t value : found->ints()) list.add_int64_data(value);
  node.add_input(list.name());
  auto& attributes = *node.mutable_attribute();
  attributes.erase(std::ranges::find_if(attributes, [&](const auto& one) { return one.name() == name; }));
}

// Ranks that the graph itself gives.
std::map<std::string, int> known_ranks(const onnx::GraphProto& whole) {
  std::map<std::string, int> ranks;
  for (const auto* ports : {&whole.input(), &whole.output(), &whole.value_info()}) {
    for (const onnx::ValueInfoProto& port : *ports) {
      if (port.type().tensor_type().has_shape()) ranks[port.name()] = port.type().tensor_type().shape().dim_size();
    }
  }
  return ranks;
}

void set_axis(onnx::NodeProto& node, std::int64_t axis) {
  auto& attributes = *node.mutable_attribute();
  auto found = std::ranges::find_if(attributes, [](const auto& one) { return one.name() == "axis"; });
  onnx::AttributeProto& attribute = found == attributes.end() ? *node.add_attribute() : *found;
  attribute.set_name("axis");
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(axis);
}

// Up to opset 12, Softmax and its kin took all axes from `axis` on for one. Where that is the last axis alone, opset 13 says
// the same; elsewhere the tensor is flattened before and gets its shape back.
void append_softmax(onnx::GraphProto& whole, onnx::NodeProto node, const std::map<std::string, int>& ranks, int number) {
  const auto* found = graph::find_attribute(node, "axis");
  const std::int64_t axis = found == nullptr ? 1 : found->i();
  const auto in = ranks.find(node.input(0)), out = ranks.find(node.output(0));
  const std::optional<int> rank = in != ranks.end()    ? std::optional(in->second)
                                  : out != ranks.end() ? std::optional(out->second)
                                                       : std::nullopt;
  if (axis == -1 || (rank && axis == *rank - 1)) {
    set_axis(node, -1);
    *whole.add_node() = std::move(node);
    return;
  }
  const std::string name = fmt::format("fiel/softmax/{}", number);
  const std::string input = node.input(0), output = node.output(0);
  graph::add_node(whole, "Shape", {input}, name + "/shape");
  graph::add_attribute(graph::add_node(whole, "Flatten", {input}, name + "/flat"), "axis", axis);
  node.set_input(0, name + "/flat");
  node.set_output(0, name + "/of_flat");
  set_axis(node, -1);
  *whole.add_node() = std::move(node);
  graph::add_node(whole, "Reshape", {name + "/of_flat", name + "/shape"}, output);
}

}  // namespace

Result<> lift_to_opset_13(onnx::ModelProto& model) {
  auto& imports = *model.mutable_opset_import();
  const auto own = std::ranges::find_if(imports, [](const auto& one) { return one.domain().empty() || one.domain() == "ai.onnx"; });
  if (own == imports.end()) return fail(ErrorKind::kContract, "the model names no opset of ONNX's own");
  if (own->version() >= kWanted) return {};
  if (own->version() < kOldest) {
    return fail(ErrorKind::kContract, fmt::format("opset {} is older than {}", own->version(), kOldest),
                "export the model with opset 13 or later");
  }
  onnx::GraphProto& whole = *model.mutable_graph();
  const auto ranks = known_ranks(whole);
  graph::Nodes nodes;
  nodes.Swap(whole.mutable_node());
  int number = 0;
  for (onnx::NodeProto& node : nodes) {
    ++number;
    const bool is_own = graph::is_own(node);
    const std::string& op = node.op_type();
    const bool is_whole = node.input_size() > 0 && node.output_size() > 0;
    if (is_own && is_whole && (op == "Softmax" || op == "LogSoftmax" || op == "Hardmax")) {
      append_softmax(whole, std::move(node), ranks, number);
      continue;
    }
    if (is_own && (op == "Squeeze" || op == "Unsqueeze" || op == "ReduceSum")) {
      attribute_to_input(whole, node, "axes", number);
    } else if (is_own && op == "Split") {
      attribute_to_input(whole, node, "split", number);
    }
    *whole.add_node() = std::move(node);
  }
  own->set_version(kWanted);
  return {};
}

}  // namespace fiel
