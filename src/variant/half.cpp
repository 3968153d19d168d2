// The model in float16 or bfloat16, between float32 inputs and outputs.
//
// Every float32 tensor t may stand in two forms: t itself, and half_name(t). A node whose operator takes halves reads and writes
// the second, any other the first; a Cast is put behind the producer where somebody needs the form that is not there. Types
// are inferred from operators, as far as they tell; a node with an input of unknown type stays as it is.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "variant/half_types.h"
#include "variant/rewriter_impl.h"

namespace fiel {
namespace {

enum class Kind { kFloat, kOther };
using Kinds = std::map<std::string, Kind>;  // a tensor that is not there: unknown

Kind kind_of(std::int64_t type) { return type == onnx::TensorProto::FLOAT ? Kind::kFloat : Kind::kOther; }

std::string half_name(const std::string& tensor) { return "fiel/half/" + tensor; }

// To nearest even. What is finite stays finite, and what is not zero does not become zero, since somebody may divide by it.
std::uint16_t to_float16(float value) {
  constexpr float kLargest = 65504.0F, kSmallest = 0x1p-24F, kSmallestNormal = 0x1p-14F;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00U);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (value == 0) return sign;
  const float size = std::clamp(std::abs(value), kSmallest, kLargest);
  if (size < kSmallestNormal) return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(size / kSmallest)));
  auto raw = std::bit_cast<std::uint32_t>(size) - (112U << 23);  // from a bias of 127 to one of 15
  raw += 0xfffU + (raw >> 13 & 1U);
  return static_cast<std::uint16_t>(sign | std::min(raw >> 13, 0x7bffU));
}

std::uint16_t to_bfloat16(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
  if (std::isfinite(value)) bits = std::min(bits & 0x7fffffffU, 0x7f7f0000U) | (bits & 0x80000000U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

class HalfWriter {
 public:
  HalfWriter(onnx::ModelProto& model, graph::Nodes nodes, const graph::Constants& constants, std::int64_t opset, HalfType type)
      : whole_(*model.mutable_graph()), nodes_(std::move(nodes)), constants_(constants), opset_(opset), type_(type) {}

  bool write() {
    infer();
    count_needs();
    if (std::ranges::none_of(in_half_, [](bool in_half) { return in_half; })) return false;
    for (const onnx::ValueInfoProto& input : whole_.input()) add_cast_to_half(input.name());
    for (int i = 0; i < nodes_.size(); ++i) add(i);
    drop_stale_types();
    graph::drop_unused_constants(whole_);
    return true;
  }
  std::vector<LeftOut> left() { return std::move(left_); }

 private:
  void infer();
  void infer_outputs(const onnx::NodeProto& node, bool in_half);
  std::string why_not(const onnx::NodeProto& node) const;
  void count_needs();
  void add(int number);
  void add_constant(const std::string& tensor);
  void add_cast_to_half(const std::string& tensor);
  void drop_stale_types();

  std::optional<Kind> known(const std::string& tensor) const {
    const auto found = kinds_.find(tensor);
    return found == kinds_.end() ? std::nullopt : std::optional(found->second);
  }
  bool is_float(const std::string& tensor) const { return known(tensor) == Kind::kFloat; }
  onnx::TensorProto::DataType type() const {
    return type_ == HalfType::kFloat16 ? onnx::TensorProto::FLOAT16 : onnx::TensorProto::BFLOAT16;
  }
  // Takes whichever form there is.
  static bool asks_for_shape_only(const onnx::NodeProto& node) { return node.op_type() == "Shape" || node.op_type() == "Size"; }

  onnx::GraphProto& whole_;
  graph::Nodes nodes_;
  const graph::Constants& constants_;
  std::int64_t opset_;
  HalfType type_;
  Kinds kinds_;
  std::vector<bool> in_half_;        // by node
  std::set<std::string> made_half_;  // tensors that a node makes as halves
  std::set<std::string> need_half_, need_float_;
  std::vector<LeftOut> left_;
};

// Empty: it runs in halves.
std::string HalfWriter::why_not(const onnx::NodeProto& node) const {
  for (const std::string& input : node.input()) {
    if (!input.empty() && !known(input)) return fmt::format("the type of its input {} is not known", input);
  }
  const bool normalises = node.op_type() == "LayerNormalization" && node.output_size() == 1;  // its other outputs stay float32
  if (graph::is_own(node) && (normalises || takes_half(node.op_type(), type_, opset_))) return {};
  return fmt::format("{} does not take {} at opset {}", node.op_type(), type_ == HalfType::kFloat16 ? "float16" : "bfloat16", opset_);
}

void HalfWriter::infer() {
  for (const auto* ports : {&whole_.input(), &whole_.output(), &whole_.value_info()}) {
    for (const onnx::ValueInfoProto& port : *ports) {
      kinds_[port.name()] = port.type().has_tensor_type() ? kind_of(port.type().tensor_type().elem_type()) : Kind::kOther;
    }
  }
  for (const auto& [name, tensor] : constants_) kinds_[name] = kind_of(tensor->data_type());
  for (const onnx::NodeProto& node : nodes_) {
    const bool has_float = std::ranges::any_of(node.input(), [&](const auto& input) { return is_float(input); });
    const std::string why = has_float ? why_not(node) : "nothing to convert";
    const bool in_half = why.empty() && !asks_for_shape_only(node);
    if (has_float && !why.empty()) left_.push_back({graph::name_of(node), why});
    in_half_.push_back(in_half);
    infer_outputs(node, in_half);
  }
}

void HalfWriter::infer_outputs(const onnx::NodeProto& node, bool in_half) {
  const std::string& op = node.op_type();
  const auto input = [&](int number) -> std::optional<Kind> {
    return number < node.input_size() ? known(node.input(number)) : std::nullopt;
  };
  const bool has_float = std::ranges::any_of(node.input(), [&](const auto& one) { return is_float(one); });
  const bool all_known = std::ranges::all_of(node.input(), [&](const auto& one) { return one.empty() || known(one); });
  const auto type_of_output = [&](int number) -> std::optional<Kind> {
    if (!graph::is_own(node)) return std::nullopt;
    if (op == "Cast") return kind_of(graph::integer(node, "to", 0));
    if (op == "Constant" || op == "ConstantOfShape") {
      const auto* value = graph::find_attribute(node, "value");
      if (value != nullptr) return kind_of(value->t().data_type());
      const bool is_other = graph::find_attribute(node, "value_int") || graph::find_attribute(node, "value_ints") ||
                            graph::find_attribute(node, "value_string") || graph::find_attribute(node, "value_strings");
      return is_other ? Kind::kOther : Kind::kFloat;
    }
    if (op == "Resize" || op == "Upsample" || op == "GridSample" || op == "Range") return input(0);
    if (op == "LayerNormalization") return number == 0 ? input(0) : Kind::kFloat;
    if (op == "DequantizeLinear" || op == "CastLike") return input(1);
    if (op == "QuantizeLinear" || op == "NonMaxSuppression") return Kind::kOther;
    if (op == "OneHot") return input(2);
    const auto follows = output_follows_inputs(op, number);
    if (!follows) return std::nullopt;
    if (!*follows) return Kind::kOther;
    if (has_float) return Kind::kFloat;
    return all_known ? std::optional(Kind::kOther) : std::nullopt;
  };
  for (int k = 0; k < node.output_size(); ++k) {
    const std::string& output = node.output(k);
    if (output.empty()) continue;
    if (const auto kind = type_of_output(k)) kinds_[output] = *kind;
    if (in_half && is_float(output)) made_half_.insert(output);
  }
}

void HalfWriter::count_needs() {
  for (int i = 0; i < nodes_.size(); ++i) {
    if (asks_for_shape_only(nodes_[i])) continue;
    for (const std::string& input : nodes_[i].input()) {
      if (!is_float(input)) continue;
      (in_half_[static_cast<std::size_t>(i)] ? need_half_ : need_float_).insert(input);
    }
  }
  for (const onnx::ValueInfoProto& output : whole_.output()) need_float_.insert(output.name());
}

void HalfWriter::add_constant(const std::string& tensor) {
  const onnx::TensorProto& source = *constants_.at(tensor);
  const auto values = graph::floats_of(source);
  if (!values) return;
  std::vector<std::uint16_t> halves(values->size());
  std::ranges::transform(*values, halves.begin(), type_ == HalfType::kFloat16 ? to_float16 : to_bfloat16);
  graph::add_constant(whole_, half_name(tensor), type(), {source.dims().begin(), source.dims().end()}, halves);
}

void HalfWriter::add_cast_to_half(const std::string& tensor) {
  if (!is_float(tensor) || !need_half_.contains(tensor) || constants_.contains(tensor)) return;
  graph::add_attribute(graph::add_node(whole_, "Cast", {tensor}, half_name(tensor)), "to", type());
}

void HalfWriter::add(int number) {
  onnx::NodeProto& node = nodes_[number];
  const bool in_half = in_half_[static_cast<std::size_t>(number)];
  std::vector<std::string> outputs(node.output().begin(), node.output().end());
  for (std::string& input : *node.mutable_input()) {
    if (!is_float(input)) continue;
    const bool only_as_half = made_half_.contains(input) && !need_float_.contains(input);
    if (in_half && constants_.contains(input) && need_half_.erase(input) > 0) add_constant(input);
    if (in_half || (asks_for_shape_only(node) && only_as_half)) input = half_name(input);
  }
  for (std::string& output : *node.mutable_output()) {
    if (in_half && made_half_.contains(output)) output = half_name(output);
  }
  *whole_.add_node() = std::move(node);
  for (const std::string& output : outputs) {
    if (!made_half_.contains(output)) {
      add_cast_to_half(output);
    } else if (need_float_.contains(output)) {
      graph::add_attribute(graph::add_node(whole_, "Cast", {half_name(output)}, output), "to", onnx::TensorProto::FLOAT);
    }
  }
}

// Of tensors that are there as halves only.
void HalfWriter::drop_stale_types() {
  auto& infos = *whole_.mutable_value_info();
  infos.erase(std::remove_if(infos.begin(), infos.end(), [&](const auto& one) {
                return made_half_.contains(one.name()) && !need_float_.contains(one.name());
              }),
              infos.end());
}

}  // namespace

Result<std::vector<LeftOut>> Rewriter::write_half(const std::filesystem::path& file, HalfType type) const {
  graph::Nodes nodes;
  onnx::ModelProto model = impl_->copy_without_nodes(nodes);
  HalfWriter writer(model, std::move(nodes), impl_->constants, impl_->opset, type);
  if (!writer.write()) return graph::refuse("none of its nodes takes halves");
  FIEL_TRY(graph::write_model(std::move(model), file));
  return writer.left();
}

}  // namespace fiel
