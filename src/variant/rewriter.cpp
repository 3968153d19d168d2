#include "variant/rewriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/files.h"
#include "variant/bias.h"
#include "variant/external.h"
#include "variant/opset13.h"
#include "variant/rewriter_impl.h"

namespace fiel {
namespace {

using graph::refuse;

constexpr std::int64_t kIrOfOpset13 = 7;

// Why a node of a kind that can be quantised can't be; empty: it can.
std::string why_not(const onnx::NodeProto& node, const graph::Constants& constants) {
  if (node.input_size() < 2) return "it has no weights";
  if (node.output().empty() || node.output(0).empty()) return "it has no output";
  if (constants.contains(node.input(0))) return "its input is constant";
  const auto weights = constants.find(node.input(1));
  if (weights == constants.end()) return "its weights are computed, not constant";
  if (weights->second->dims_size() < 2) return "its weights are a vector";
  if (weights->second->data_type() != onnx::TensorProto::FLOAT) return "its weights are not float32";
  const auto values = graph::floats_of(*weights->second);
  if (!values) return "its weights are not as many as their shape says";
  if (values->empty()) return "its weights are empty";
  if (std::ranges::any_of(*values, [](float value) { return !std::isfinite(value); })) return "its weights are not finite";
  return {};
}

Result<> check_graph(const onnx::ModelProto& model) {
  if (!model.has_graph() || model.graph().node().empty()) return refuse("it has no graph");
  if (model.functions_size() > 0) return refuse(fmt::format("it has functions of its own ({})", model.functions(0).name()));
  if (model.graph().sparse_initializer_size() > 0) {
    return refuse(fmt::format("its initialiser {} is sparse", model.graph().sparse_initializer(0).values().name()));
  }
  for (const onnx::NodeProto& node : model.graph().node()) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g() || attribute.graphs_size() > 0) {
        return refuse(fmt::format("{} node {} holds a graph of its own (control flow)", node.op_type(), graph::name_of(node)));
      }
    }
  }
  return {};
}

// Who reads a tensor: the graph's only reader of it, if there is just one and the tensor is no output.
class Readers {
 public:
  explicit Readers(const onnx::GraphProto& whole) {
    for (const onnx::NodeProto& node : whole.node()) {
      for (const std::string& input : node.input()) add(input, &node);
    }
    for (const auto& output : whole.output()) add(output.name(), nullptr);
  }
  const onnx::NodeProto* only_reader(const std::string& tensor) const {
    const auto found = readers_.find(tensor);
    return found == readers_.end() ? nullptr : found->second;
  }

 private:
  void add(const std::string& tensor, const onnx::NodeProto* node) {
    const auto [at, is_first] = readers_.emplace(tensor, node);
    if (!is_first) at->second = nullptr;
  }
  std::map<std::string, const onnx::NodeProto*> readers_;
};

bool is_addition_of_constant(const onnx::NodeProto& node, const graph::Constants& constants) {
  return node.op_type() == "Add" && graph::is_own(node) && node.input_size() == 2 && node.output_size() == 1 &&
         (constants.contains(node.input(0)) || constants.contains(node.input(1)));
}

// Engines fuse a bias and a Relu or Clip into the node before.
std::string result_of(const onnx::NodeProto& node, const Readers& readers, const graph::Constants& constants) {
  std::string result = node.output(0);
  const onnx::NodeProto* next = readers.only_reader(result);
  if (node.op_type() == "MatMul" && next != nullptr && is_addition_of_constant(*next, constants)) {
    result = next->output(0);
    next = readers.only_reader(result);
  }
  const bool is_fused = next != nullptr && graph::is_own(*next) && (next->op_type() == "Relu" || next->op_type() == "Clip");
  if (is_fused && next->output_size() == 1) result = next->output(0);
  return result;
}

std::int64_t opset_of(const onnx::ModelProto& model) {
  for (const auto& one : model.opset_import()) {
    if (one.domain().empty() || one.domain() == "ai.onnx") return one.version();
  }
  return 0;
}

}  // namespace

Rewriter::Rewriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Rewriter::Rewriter(Rewriter&&) noexcept = default;
Rewriter::~Rewriter() = default;

Result<Rewriter> Rewriter::open(const std::filesystem::path& path) {
  const std::string bytes = FIEL_TRY(read_text(path, std::numeric_limits<std::int32_t>::max()));  // protobuf's own limit
  auto impl = std::make_unique<Impl>();
  if (!impl->model.ParseFromString(bytes)) return refuse("it is no ONNX file");
  FIEL_TRY(check_graph(impl->model));
  FIEL_TRY(graph::fetch_weights(impl->model, path.parent_path()));
  FIEL_TRY(lift_to_opset_13(impl->model));
  impl->model.set_ir_version(std::max<std::int64_t>(impl->model.ir_version(), kIrOfOpset13));
  impl->opset = opset_of(impl->model);
  const onnx::GraphProto& whole = impl->model.graph();
  impl->constants = graph::constants_of(whole);
  std::set<std::string> names;
  for (int i = 0; i < whole.node_size(); ++i) {
    const onnx::NodeProto& node = whole.node(i);
    const std::string& op = node.op_type();
    if ((op != "Conv" && op != "MatMul" && op != "Gemm") || !graph::is_own(node)) continue;
    std::string why = why_not(node, impl->constants);
    if (why.empty() && !names.insert(graph::name_of(node)).second) why = "its name is not its own";
    if (!why.empty()) {
      impl->left_out.push_back({graph::name_of(node), std::move(why)});
      continue;
    }
    std::int64_t count = 1;
    for (const std::int64_t dim : impl->constants.at(node.input(1))->dims()) count *= dim;
    impl->regions.push_back({.name = graph::name_of(node), .op = op, .activation = node.input(0), .result = {}, .weights = count});
    impl->nodes.push_back(i);
  }
  const Readers readers(whole);
  for (std::size_t i = 0; i < impl->regions.size(); ++i) {
    impl->regions[i].result = result_of(impl->node(i), readers, impl->constants);
    impl->activations.insert(impl->regions[i].activation);
  }
  return Rewriter(std::move(impl));
}

onnx::ModelProto Rewriter::Impl::copy_without_nodes(graph::Nodes& nodes_aside) const {
  onnx::ModelProto copy = model;
  nodes_aside.Swap(copy.mutable_graph()->mutable_node());
  return copy;
}

const std::vector<Region>& Rewriter::regions() const { return impl_->regions; }
const std::vector<LeftOut>& Rewriter::left_out() const { return impl_->left_out; }
std::int64_t Rewriter::opset() const { return impl_->opset; }
bool Rewriter::observes_result(std::size_t i) const { return !impl_->activations.contains(impl_->regions[i].result); }

std::vector<std::string> Rewriter::activations() const {
  std::vector<std::string> all;
  std::set<std::string> seen;
  for (const Region& region : impl_->regions) {
    if (seen.insert(region.activation).second) all.push_back(region.activation);
  }
  return all;
}

std::string Rewriter::observed_low(std::size_t i) const { return fmt::format("fiel/low/{}", i); }
std::string Rewriter::observed_high(std::size_t i) const { return fmt::format("fiel/high/{}", i); }
std::string Rewriter::observed_power(std::size_t i) const { return fmt::format("fiel/power/{}", i); }
std::string Rewriter::observed_result_low(std::size_t i) const { return fmt::format("fiel/result_low/{}", i); }
std::string Rewriter::observed_result_high(std::size_t i) const { return fmt::format("fiel/result_high/{}", i); }
std::string Rewriter::observed_shape(std::size_t i) const { return fmt::format("fiel/shape/{}", i); }
std::string Rewriter::observed_output_shape(std::size_t i) const { return fmt::format("fiel/output_shape/{}", i); }
std::string Rewriter::observed_means(std::size_t i) const { return fmt::format("fiel/means/{}", i); }
std::string Rewriter::observed_lows(std::size_t i) const { return fmt::format("fiel/lows/{}", i); }
std::string Rewriter::observed_highs(std::size_t i) const { return fmt::format("fiel/highs/{}", i); }
std::string Rewriter::observed_value(std::size_t k) { return fmt::format("fiel/value/{}", k); }

std::int64_t Rewriter::input_channels(std::size_t i) const { return fiel::input_channels(impl_->node(i), impl_->weights(i)); }

double Rewriter::products(std::size_t i, double output_elements) const {
  const onnx::NodeProto& node = impl_->node(i);
  const onnx::TensorProto& weights = impl_->weights(i);
  if (node.op_type() == "Conv") return output_elements * static_cast<double>(impl_->regions[i].weights / weights.dims(0));
  const bool transposed = graph::channel_axis(node, weights) == 0;
  return output_elements * static_cast<double>(weights.dims(transposed ? 1 : weights.dims_size() - 2));
}

double Rewriter::weight_noise(std::size_t i, int weight_bits) const {
  const onnx::TensorProto& tensor = impl_->weights(i);
  const int axis = graph::channel_axis(impl_->node(i), tensor);
  const std::vector<float> values = *graph::floats_of(tensor);
  const graph::QuantisedWeights quantised = graph::quantise(values, tensor, axis, weight_bits);
  double noise = 0, power = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double scale = quantised.scales[graph::channel_of(tensor, axis, k)];
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

}  // namespace fiel
