#include "variant/rewriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/files.h"
#include "onnx-ml.pb.h"
#include "variant/opset13.h"

namespace fiel {
namespace {

constexpr int kUInt8Steps = 255;
constexpr std::int64_t kMaxModelBytes = (std::int64_t{1} << 31) - 1;  // protobuf's own limit
constexpr std::int64_t kIrOfOpset13 = 7;

std::string name_of(const onnx::NodeProto& node) {
  return !node.name().empty() || node.output().empty() ? node.name() : node.output(0);
}

// Where a tensor's constant value stands: an initialiser, or the value of a Constant node.
using Constants = std::map<std::string, const onnx::TensorProto*>;

Constants constants_of(const onnx::GraphProto& graph) {
  Constants constants;
  for (const onnx::TensorProto& tensor : graph.initializer()) constants[tensor.name()] = &tensor;
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.op_type() != "Constant" || node.output().empty()) continue;
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() == "value") constants[node.output(0)] = &attribute.t();
    }
  }
  return constants;
}

std::optional<std::vector<float>> floats_of(const onnx::TensorProto& tensor) {
  if (tensor.data_type() != onnx::TensorProto::FLOAT) return std::nullopt;
  std::int64_t count = 1;
  for (const std::int64_t dim : tensor.dims()) count *= dim;
  std::vector<float> values(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  if (tensor.has_raw_data()) {
    if (tensor.raw_data().size() != values.size() * sizeof(float)) return std::nullopt;
    if (!values.empty()) std::memcpy(values.data(), tensor.raw_data().data(), tensor.raw_data().size());
    return values;
  }
  if (static_cast<std::size_t>(tensor.float_data_size()) != values.size()) return std::nullopt;
  std::ranges::copy(tensor.float_data(), values.begin());
  return values;
}

bool is_transposed(const onnx::NodeProto& gemm) {
  return std::ranges::any_of(gemm.attribute(), [](const auto& one) { return one.name() == "transB" && one.i() != 0; });
}

// The axis of the weights along which the output's channels lie.
int channel_axis(const onnx::NodeProto& node, const onnx::TensorProto& weights) {
  if (node.op_type() == "Conv" || (node.op_type() == "Gemm" && is_transposed(node))) return 0;
  return weights.dims_size() - 1;
}

// Why a node of a kind that can be quantised can't be; empty: it can.
std::string why_not(const onnx::NodeProto& node, const Constants& constants) {
  if (node.input_size() < 2) return "it has no weights";
  if (constants.contains(node.input(0))) return "its input is constant";
  const auto weights = constants.find(node.input(1));
  if (weights == constants.end()) return "its weights are computed, not constant";
  if (weights->second->dims_size() < 2) return "its weights are a vector";
  const auto values = floats_of(*weights->second);
  if (!values) return "its weights are not float32";
  if (values->empty()) return "its weights are empty";
  if (std::ranges::any_of(*values, [](float value) { return !std::isfinite(value); })) return "its weights are not finite";
  return {};
}

struct QuantisedWeights {
  std::vector<std::int8_t> values;
  std::vector<float> scales;  // by channel
};

// In which channel the k-th element lies.
std::size_t channel_of(const onnx::TensorProto& tensor, int axis, std::size_t k) {
  std::size_t inner = 1;
  for (int i = axis + 1; i < tensor.dims_size(); ++i) inner *= static_cast<std::size_t>(tensor.dims(i));
  return k / inner % static_cast<std::size_t>(tensor.dims(axis));
}

// Symmetric, w = scale[channel] * q. A channel of zeros has scale 1.
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

template <class T>
void add_constant(onnx::GraphProto& graph, const std::string& name, onnx::TensorProto::DataType type,
                  const std::vector<std::int64_t>& dims, const std::vector<T>& values) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  tensor.set_raw_data(values.data(), values.size() * sizeof(T));
}

onnx::NodeProto& add_node(onnx::GraphProto& graph, const char* op, std::initializer_list<std::string> inputs,
                          const std::string& output) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(op);
  node.set_name(output);
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

// x -> QuantizeLinear -> DequantizeLinear; returns the name of what comes out.
std::string add_activation_pair(onnx::GraphProto& graph, const std::string& activation, const Range& range) {
  const UInt8Scale scale = uint8_scale(range);
  const std::string name = "fiel/" + activation;
  add_constant<float>(graph, name + "/scale", onnx::TensorProto::FLOAT, {}, {scale.scale});
  add_constant<std::uint8_t>(graph, name + "/zero", onnx::TensorProto::UINT8, {}, {scale.zero_point});
  add_node(graph, "QuantizeLinear", {activation, name + "/scale", name + "/zero"}, name + "/uint8");
  add_node(graph, "DequantizeLinear", {name + "/uint8", name + "/scale", name + "/zero"}, name + "/float");
  return name + "/float";
}

std::string add_weights(onnx::GraphProto& graph, const std::string& weights, const onnx::TensorProto& tensor, int axis, int bits) {
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

// What nobody reads any more; outputs and sub-graphs were looked at before.
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

std::unexpected<Error> refuse(std::string message, std::string hint = {}) {
  return fail(ErrorKind::kContract, "the model can't be rewritten: " + std::move(message), std::move(hint));
}

Result<> check_graph(const onnx::ModelProto& model) {
  if (!model.has_graph() || model.graph().node().empty()) return refuse("it has no graph");
  if (model.functions_size() > 0) return refuse("it has functions of its own");
  if (model.graph().sparse_initializer_size() > 0) return refuse("it has sparse initialisers");
  for (const onnx::TensorProto& tensor : model.graph().initializer()) {
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
      return refuse(fmt::format("the weights {} lie in another file", tensor.name()), "save it as one file below 2 GiB");
    }
  }
  for (const onnx::NodeProto& node : model.graph().node()) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g() || attribute.graphs_size() > 0) {
        return refuse(fmt::format("{} node {} holds a graph of its own (control flow)", node.op_type(), name_of(node)));
      }
    }
  }
  return {};
}

Result<> write_model(const onnx::ModelProto& model, const std::filesystem::path& file) {
  std::string bytes;
  if (!model.SerializeToString(&bytes)) return refuse("what comes out is larger than 2 GiB");
  return write_atomic(file, bytes);
}

}  // namespace

UInt8Scale uint8_scale(const Range& range) {
  const double low = std::min(range.low, 0.0), high = std::max(range.high, 0.0);
  const double step = (high - low) / kUInt8Steps;
  if (!(step > 0) || !std::isnormal(static_cast<float>(step))) return {};
  return {.scale = static_cast<float>(step),
          .zero_point = static_cast<std::uint8_t>(std::clamp(std::nearbyint(-low / step), 0.0, 255.0))};
}

struct Rewriter::Impl {
  onnx::ModelProto model;  // at opset 13 or later
  Constants constants;     // of `model`, which does not change any more
  std::vector<Region> regions;
  std::vector<int> nodes;  // of the regions
  std::vector<LeftOut> left_out;
};

Rewriter::Rewriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Rewriter::Rewriter(Rewriter&&) noexcept = default;
Rewriter::~Rewriter() = default;

Result<Rewriter> Rewriter::open(const std::filesystem::path& path) {
  const std::string bytes = FIEL_TRY(read_text(path, kMaxModelBytes));
  auto impl = std::make_unique<Impl>();
  if (!impl->model.ParseFromString(bytes)) return refuse("it is no ONNX file");
  FIEL_TRY(check_graph(impl->model));
  FIEL_TRY(lift_to_opset_13(impl->model));
  impl->model.set_ir_version(std::max<std::int64_t>(impl->model.ir_version(), kIrOfOpset13));
  const onnx::GraphProto& graph = impl->model.graph();
  impl->constants = constants_of(graph);
  std::set<std::string> names;
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    const std::string& op = node.op_type();
    if ((op != "Conv" && op != "MatMul" && op != "Gemm") || !node.domain().empty()) continue;
    std::string why = why_not(node, impl->constants);
    if (why.empty() && !names.insert(name_of(node)).second) why = "its name is not its own";
    if (!why.empty()) {
      impl->left_out.push_back({name_of(node), std::move(why)});
      continue;
    }
    impl->regions.push_back({.name = name_of(node), .op = op, .activation = node.input(0)});
    impl->nodes.push_back(i);
  }
  return Rewriter(std::move(impl));
}

const std::vector<Region>& Rewriter::regions() const { return impl_->regions; }
const std::vector<LeftOut>& Rewriter::left_out() const { return impl_->left_out; }

std::string Rewriter::observed_low(std::size_t i) const { return fmt::format("fiel/low/{}", i); }
std::string Rewriter::observed_high(std::size_t i) const { return fmt::format("fiel/high/{}", i); }
std::string Rewriter::observed_power(std::size_t i) const { return fmt::format("fiel/power/{}", i); }

double Rewriter::weight_noise(std::size_t i, int weight_bits) const {
  const onnx::NodeProto& node = impl_->model.graph().node(impl_->nodes[i]);
  const onnx::TensorProto& tensor = *impl_->constants.at(node.input(1));
  const int axis = channel_axis(node, tensor);
  const std::vector<float> values = *floats_of(tensor);
  const QuantisedWeights quantised = quantise(values, tensor, axis, weight_bits);
  double noise = 0, power = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double scale = quantised.scales[channel_of(tensor, axis, k)];
    const double error = values[k] - scale * quantised.values[k];
    noise += error * error;
    power += static_cast<double>(values[k]) * values[k];
  }
  return power > 0 ? noise / power : 0;
}

double Rewriter::activation_noise(const Range& range, double power) {
  const double scale = uint8_scale(range).scale;
  return power > 0 ? scale * scale / 12 / power : 0;
}

Result<> Rewriter::write_observer(const std::filesystem::path& file) const {
  onnx::ModelProto model = impl_->model;
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.clear_output();
  for (std::size_t i = 0; i < impl_->regions.size(); ++i) {
    const std::string& activation = impl_->regions[i].activation;
    const std::string square = fmt::format("fiel/square/{}", i);
    add_node(graph, "Mul", {activation, activation}, square);
    struct Observed {
      const char* op;
      std::string of, name;
    };
    for (const auto& [op, of, name] : {Observed{"ReduceMin", activation, observed_low(i)},
                                       Observed{"ReduceMax", activation, observed_high(i)},
                                       Observed{"ReduceMean", square, observed_power(i)}}) {
      add_attribute(add_node(graph, op, {of}, name), "keepdims", 0);
      onnx::ValueInfoProto& output = *graph.add_output();
      output.set_name(name);
      output.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
      output.mutable_type()->mutable_tensor_type()->mutable_shape();
    }
  }
  return write_model(model, file);
}

Result<> Rewriter::write_int8(const std::filesystem::path& file, const Ranges& ranges, const Int8Choice& choice) const {
  onnx::ModelProto model = impl_->model;
  onnx::GraphProto& graph = *model.mutable_graph();
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  nodes.Swap(graph.mutable_node());
  std::map<std::string, std::string> activations, weights;  // what stands in a tensor's place
  std::size_t region = 0;
  for (int i = 0; i < nodes.size(); ++i) {
    onnx::NodeProto& node = nodes[i];
    const bool is_region = region < impl_->nodes.size() && impl_->nodes[region] == i;
    if (is_region && choice.regions.contains(impl_->regions[region].name)) {
      const std::string activation = node.input(0), weight = node.input(1);
      FIEL_CHECK(ranges.contains(activation));
      if (!activations.contains(activation)) {
        activations[activation] = add_activation_pair(graph, activation, ranges.at(activation));
      }
      const onnx::TensorProto& tensor = *impl_->constants.at(weight);
      const int axis = channel_axis(node, tensor);
      std::string& in_place = weights[fmt::format("{}@{}", weight, axis)];
      if (in_place.empty()) in_place = add_weights(graph, weight, tensor, axis, choice.weight_bits);
      node.set_input(0, activations.at(activation));
      node.set_input(1, in_place);
    }
    if (is_region) ++region;
    *graph.add_node() = std::move(node);
  }
  drop_unused_constants(graph);
  return write_model(model, file);
}

}  // namespace fiel
