// Models that observe: the same inputs, and outputs that tell of the regions' activations.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "variant/rewriter_impl.h"

namespace fiel {
namespace {

constexpr std::int64_t kAxesAreAnInput = 18;  // of reductions, from that opset on

void reduce(onnx::GraphProto& whole, std::int64_t opset, const char* op, const std::string& of, const std::string& name) {
  onnx::NodeProto& node = graph::add_node(whole, op, {of}, name);
  graph::add_attribute(node, "keepdims", 0);
  if (opset >= kAxesAreAnInput) {
    node.add_input("fiel/ends");
    return;
  }
  onnx::AttributeProto& axes = *node.add_attribute();
  axes.set_name("axes");
  axes.set_type(onnx::AttributeProto::INTS);
  axes.add_ints(0);
  axes.add_ints(2);
}

void drop_outputs(onnx::GraphProto& whole, const std::set<std::string>& kept) {
  auto& outputs = *whole.mutable_output();
  outputs.erase(std::remove_if(outputs.begin(), outputs.end(), [&](const auto& one) { return !kept.contains(one.name()); }), outputs.end());
}

}  // namespace

Result<> Rewriter::write_observer(const std::filesystem::path& file, const std::set<std::string>& kept) const {
  onnx::ModelProto model = impl_->model;
  onnx::GraphProto& whole = *model.mutable_graph();
  drop_outputs(whole, kept);
  if (impl_->opset >= kAxesAreAnInput) graph::add_constant<std::int64_t>(whole, "fiel/ends", onnx::TensorProto::INT64, {2}, {0, 2});
  for (std::size_t i = 0; i < impl_->regions.size(); ++i) {
    const std::string& activation = impl_->regions[i].activation;
    const std::string square = fmt::format("fiel/square/{}", i);
    graph::add_node(whole, "Mul", {activation, activation}, square);
    struct Observed {
      const char* op;
      std::string of, name;
    };
    std::vector<Observed> scalars = {{"ReduceMin", activation, observed_low(i)},
                                     {"ReduceMax", activation, observed_high(i)},
                                     {"ReduceMean", square, observed_power(i)}};
    if (const std::string& result = impl_->regions[i].result; observes_result(i)) {
      scalars.push_back({"ReduceMin", result, observed_result_low(i)});
      scalars.push_back({"ReduceMax", result, observed_result_high(i)});
    }
    for (const auto& [op, of, name] : scalars) {
      graph::add_attribute(graph::add_node(whole, op, {of}, name), "keepdims", 0);
      graph::add_output(whole, name, onnx::TensorProto::FLOAT).mutable_shape();
    }
    for (const auto& [of, name] : {std::pair(activation, observed_shape(i)),
                                   std::pair(impl_->node(i).output(0), observed_output_shape(i))}) {
      graph::add_node(whole, "Shape", {of}, name);
      graph::add_output(whole, name, onnx::TensorProto::INT64).mutable_shape()->add_dim();
    }
    const std::int64_t channels = input_channels(i);
    if (channels == 0) continue;
    // Any activation as [rows, channels, the rest], whatever its rank.
    const std::string split = fmt::format("fiel/split/{}", i), turned = fmt::format("fiel/turned/{}", i);
    const bool convolves = impl_->regions[i].op == "Conv";
    graph::add_constant<std::int64_t>(whole, split, onnx::TensorProto::INT64, {3},
                                      convolves ? std::vector<std::int64_t>{0, channels, -1} : std::vector<std::int64_t>{-1, channels, 1});
    graph::add_node(whole, "Reshape", {activation, split}, turned);
    for (const auto& [op, name] : {std::pair("ReduceMean", observed_means(i)), std::pair("ReduceMin", observed_lows(i)),
                                   std::pair("ReduceMax", observed_highs(i))}) {
      reduce(whole, impl_->opset, op, turned, name);
      graph::add_output(whole, name, onnx::TensorProto::FLOAT).mutable_shape()->add_dim()->set_dim_value(channels);
    }
  }
  return graph::write_model(std::move(model), file);
}

Result<> Rewriter::write_values_observer(const std::filesystem::path& file, std::span<const std::string> activations,
                                         const std::set<std::string>& kept) const {
  onnx::ModelProto model = impl_->model;
  onnx::GraphProto& whole = *model.mutable_graph();
  drop_outputs(whole, kept);
  graph::add_constant<std::int64_t>(whole, "fiel/flat", onnx::TensorProto::INT64, {1}, {-1});
  for (std::size_t k = 0; k < activations.size(); ++k) {
    graph::add_node(whole, "Reshape", {activations[k], "fiel/flat"}, observed_value(k));
    graph::add_output(whole, observed_value(k), onnx::TensorProto::FLOAT).mutable_shape()->add_dim();
  }
  return graph::write_model(std::move(model), file);
}

}  // namespace fiel
