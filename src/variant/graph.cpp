#include "variant/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "base/files.h"
#include "variant/external.h"

namespace fiel::graph {

std::string name_of(const onnx::NodeProto& node) {
  return !node.name().empty() || node.output().empty() ? node.name() : node.output(0);
}

bool is_own(const onnx::NodeProto& node) { return node.domain().empty() || node.domain() == "ai.onnx"; }

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name) {
  const auto found = std::ranges::find_if(node.attribute(), [&](const auto& one) { return one.name() == name; });
  return found == node.attribute().end() ? nullptr : &*found;
}

std::int64_t integer(const onnx::NodeProto& node, std::string_view name, std::int64_t otherwise) {
  const auto* attribute = find_attribute(node, name);
  return attribute == nullptr ? otherwise : attribute->i();
}

Constants constants_of(const onnx::GraphProto& graph) {
  Constants constants;
  for (const onnx::TensorProto& tensor : graph.initializer()) constants[tensor.name()] = &tensor;
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.op_type() != "Constant" || node.output().empty()) continue;
    if (const auto* value = find_attribute(node, "value")) constants[node.output(0)] = &value->t();
  }
  return constants;
}

std::optional<std::vector<float>> floats_of(const onnx::TensorProto& tensor) {
  if (tensor.data_type() != onnx::TensorProto::FLOAT) return std::nullopt;
  const auto held = tensor.has_raw_data() ? tensor.raw_data().size() / sizeof(float)
                                          : static_cast<std::size_t>(tensor.float_data_size());
  std::size_t count = 1;
  for (const std::int64_t dim : tensor.dims()) {
    // What is there bounds what is asked for, so that an absurd shape asks for no memory.
    if (dim < 0 || (dim > 0 && count > held / static_cast<std::size_t>(dim))) return std::nullopt;
    count *= static_cast<std::size_t>(dim);
  }
  if (count != held || (tensor.has_raw_data() && tensor.raw_data().size() % sizeof(float) != 0)) return std::nullopt;
  std::vector<float> values(count);
  if (!tensor.has_raw_data()) {
    std::ranges::copy(tensor.float_data(), values.begin());
  } else if (count > 0) {
    std::memcpy(values.data(), tensor.raw_data().data(), tensor.raw_data().size());
  }
  return values;
}

std::optional<std::vector<float>> floats_by_channel(const Constants& constants, const std::string& tensor, std::size_t channels) {
  const auto found = constants.find(tensor);
  if (found == constants.end() || found->second->dims_size() == 0) return std::nullopt;
  const auto last = found->second->dims(found->second->dims_size() - 1);
  auto values = floats_of(*found->second);
  // As many elements with another last axis are spread over rows.
  if (!values || values->size() != channels || last != static_cast<std::int64_t>(channels)) return std::nullopt;
  return values;
}

bool has_constant(const onnx::GraphProto& graph, const std::string& name) {
  return std::ranges::find(graph.initializer(), name, &onnx::TensorProto::name) != graph.initializer().end();
}

int channel_axis(const onnx::NodeProto& node, const onnx::TensorProto& weights) {
  if (node.op_type() == "Conv" || (node.op_type() == "Gemm" && integer(node, "transB", 0) != 0)) return 0;
  return weights.dims_size() - 1;
}

std::size_t channel_of(const onnx::TensorProto& tensor, int axis, std::size_t k) {
  std::size_t inner = 1;
  for (int i = axis + 1; i < tensor.dims_size(); ++i) inner *= static_cast<std::size_t>(tensor.dims(i));
  return k / inner % static_cast<std::size_t>(tensor.dims(axis));
}

QuantisedWeights quantise(const std::vector<float>& values, const onnx::TensorProto& tensor, int axis, int bits) {
  const auto channels = static_cast<std::size_t>(tensor.dims(axis));
  QuantisedWeights result{.values = std::vector<std::int8_t>(values.size()), .scales = std::vector<float>(channels, 0.0F)};
  for (std::size_t i = 0; i < values.size(); ++i) {
    float& largest = result.scales[channel_of(tensor, axis, i)];
    largest = std::max(largest, std::abs(values[i]));
  }
  const float limit = static_cast<float>((1 << (bits - 1)) - 1);
  for (float& scale : result.scales) scale = scale > 0 && std::isnormal(scale / limit) ? scale / limit : 1.0F;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float q = std::nearbyint(values[i] / result.scales[channel_of(tensor, axis, i)]);
    result.values[i] = static_cast<std::int8_t>(std::clamp(q, -limit, limit));
  }
  return result;
}

onnx::NodeProto& add_node(onnx::GraphProto& graph, const char* op, std::initializer_list<std::string> inputs,
                          const std::string& output) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(op);
  // Where it gives what the model's own node gave, a node of the model may have that name.
  node.set_name(output.starts_with("fiel/") ? output : fmt::format("fiel/{}/made", output));
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

void add_attribute(onnx::NodeProto& node, const char* name, std::int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

onnx::TypeProto::Tensor& add_output(onnx::GraphProto& graph, const std::string& name, onnx::TensorProto::DataType type) {
  onnx::ValueInfoProto& output = *graph.add_output();
  output.set_name(name);
  onnx::TypeProto::Tensor& tensor = *output.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  return tensor;
}

std::string add_dequantised(onnx::GraphProto& graph, const std::string& weights, const onnx::TensorProto& tensor, int axis,
                            int bits) {
  const QuantisedWeights quantised = quantise(*floats_of(tensor), tensor, axis, bits);
  const std::string name = fmt::format("fiel/{}/{}", weights, axis);
  const auto channels = static_cast<std::int64_t>(quantised.scales.size());
  add_constant(graph, name + "/int8", onnx::TensorProto::INT8, {tensor.dims().begin(), tensor.dims().end()}, quantised.values);
  add_constant(graph, name + "/scales", onnx::TensorProto::FLOAT, {channels}, quantised.scales);
  add_constant(graph, name + "/zeros", onnx::TensorProto::INT8, {channels}, std::vector<std::int8_t>(quantised.scales.size()));
  onnx::NodeProto& node =
      add_node(graph, "DequantizeLinear", {name + "/int8", name + "/scales", name + "/zeros"}, name + "/dequantised");
  add_attribute(node, "axis", axis);
  return name + "/dequantised";
}

void drop_unused_constants(onnx::GraphProto& graph) {
  std::set<std::string> used;
  for (const onnx::NodeProto& node : graph.node()) used.insert(node.input().begin(), node.input().end());
  for (const onnx::ValueInfoProto& output : graph.output()) used.insert(output.name());
  auto& constants = *graph.mutable_initializer();
  std::set<std::string> dropped;
  for (const onnx::TensorProto& tensor : constants) {
    if (!used.contains(tensor.name())) dropped.insert(tensor.name());
  }
  constants.erase(std::remove_if(constants.begin(), constants.end(), [&](const auto& one) { return dropped.contains(one.name()); }),
                  constants.end());
  // Up to IR version 3 an initialiser is listed among the inputs too; without its value it would be an input to give.
  auto& inputs = *graph.mutable_input();
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(), [&](const auto& one) { return dropped.contains(one.name()); }),
               inputs.end());
  auto& nodes = *graph.mutable_node();
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), [&](const auto& node) {
                return node.op_type() == "Constant" && !node.output().empty() && !used.contains(node.output(0));
              }),
              nodes.end());
}

std::unexpected<Error> refuse(std::string message, std::string hint) {
  return fail(ErrorKind::kContract, "the model can't be rewritten: " + std::move(message), std::move(hint));
}

Result<> write_model(onnx::ModelProto model, const std::filesystem::path& file) {
  if (model.ByteSizeLong() > kOneFileBytes) FIEL_TRY(move_weights_out(model, file.string() + ".data"));
  std::string bytes;
  if (!model.SerializeToString(&bytes)) return refuse("what comes out is larger than 2 GiB, its weights apart");
  return write_atomic(file, bytes);
}

}  // namespace fiel::graph
