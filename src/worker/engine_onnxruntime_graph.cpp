#include "worker/engine_onnxruntime_graph.h"

#include <fmt/format.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>
#include <unordered_map>

#include "base/digest.h"
#include "onnx-ml.pb.h"
#include "worker/guard.h"
#include "worker/wanted_shapes.h"

namespace fiel {
namespace {

using onnx::TensorProto;

EngineResult<onnx::ModelProto> read_model(const std::filesystem::path& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) {
    return engine_fail("bad_request", fmt::format("\"model\": {} is no file", path.string()));
  }
  if (std::filesystem::file_size(path, code) > std::numeric_limits<int>::max()) {
    return engine_fail("unsupported", fmt::format("{} is above 2 GiB: save its weights as external data", path.string()));
  }
  std::ifstream file(path, std::ios::binary);
  google::protobuf::io::IstreamInputStream stream(&file);
  onnx::ModelProto model;
  if (!model.ParseFromZeroCopyStream(&stream) || !model.has_graph()) {
    return engine_fail("unsupported", fmt::format("{} is no ONNX model", path.string()));
  }
  return model;
}

// Sizes of external data, as far as the model says them; only an estimate is needed.
std::int64_t external_bytes(const onnx::GraphProto& graph, const std::filesystem::path& folder, bool& any) {
  std::set<std::string> files;
  for (const TensorProto& tensor : graph.initializer()) {
    if (tensor.data_location() != TensorProto::EXTERNAL) continue;
    any = true;
    for (const auto& entry : tensor.external_data()) {
      if (entry.key() == "location") files.insert(entry.value());
    }
  }
  std::int64_t bytes = 0;
  for (const std::string& file : files) {
    std::error_code code;
    const auto size = std::filesystem::file_size(folder / file, code);
    if (!code) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

std::optional<Shape> shape_of(const onnx::ValueInfoProto& info) {
  if (!info.type().has_tensor_type() || !info.type().tensor_type().has_shape()) return std::nullopt;
  Shape shape;
  for (const auto& dim : info.type().tensor_type().shape().dim()) {
    shape.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1);
  }
  return shape;
}

void set_shape(onnx::ValueInfoProto& info, const Shape& shape) {
  auto& dims = *info.mutable_type()->mutable_tensor_type()->mutable_shape();
  const onnx::TensorShapeProto before = dims;
  dims.clear_dim();
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    auto& dim = *dims.add_dim();
    if (shape[axis] >= 0) {
      dim.set_dim_value(shape[axis]);
    } else if (static_cast<int>(axis) < before.dim_size()) {
      dim = before.dim(static_cast<int>(axis));  // dynamic: its name stays
    }
  }
}

// What the model says of later shapes holds for its own input shapes only; the engine infers them anew.
void forget_later_shapes(onnx::GraphProto& graph) {
  graph.clear_value_info();
  for (auto& output : *graph.mutable_output()) {
    if (!output.type().has_tensor_type() || !output.type().tensor_type().has_shape()) continue;
    auto& dims = *output.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (auto& dim : *dims.mutable_dim()) dim.Clear();
  }
}

}  // namespace

EngineResult<ModelSource> read_source(const BuildRequest& request) {
  const auto extension = request.model.extension();
  if (extension == ".xml" || extension == ".tflite") {
    return engine_fail("unsupported", fmt::format("ONNX Runtime does not read {} files", extension.string()));
  }
  onnx::ModelProto model = FIEL_TRY_ENGINE(read_model(request.model));
  onnx::GraphProto& graph = *model.mutable_graph();
  std::set<std::string> constants;
  for (const TensorProto& tensor : graph.initializer()) constants.insert(tensor.name());
  std::vector<ModelInput> inputs;
  std::vector<int> places;
  for (int i = 0; i < graph.input_size(); ++i) {
    if (constants.contains(graph.input(i).name())) continue;
    inputs.push_back({.name = graph.input(i).name(), .shape = shape_of(graph.input(i))});
    places.push_back(i);
  }
  const auto wanted = FIEL_TRY_ENGINE(wanted_shapes(inputs, request));
  ModelSource source{.path = request.model, .rewritten = {}, .has_external_data = false, .bytes = 0};
  std::error_code code;
  source.bytes = static_cast<std::int64_t>(std::filesystem::file_size(request.model, code)) +
                 external_bytes(graph, request.model.parent_path(), source.has_external_data);
  bool changed = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (wanted[i] == inputs[i].shape) continue;
    if (inputs[i].shape && inputs[i].shape->size() != wanted[i]->size()) {
      return engine_fail("build_error", fmt::format("input \"{}\" has {} axes in the model, the shape asked for is {}",
                                                    inputs[i].name, inputs[i].shape->size(), to_string(*wanted[i])));
    }
    set_shape(*graph.mutable_input(places[i]), *wanted[i]);
    changed = true;
  }
  if (!changed) return source;
  forget_later_shapes(graph);
  source.rewritten = model.SerializeAsString();
  return source;
}

namespace {

// ONNX's number of an element type, as OpenVINO abbreviates it.
std::string short_name(int type) {
  switch (type) {
    case TensorProto::DOUBLE: return "f64";
    case TensorProto::FLOAT: return "f32";
    case TensorProto::FLOAT16: return "f16";
    case TensorProto::BFLOAT16: return "bf16";
    case TensorProto::INT64: return "i64";
    case TensorProto::INT32: return "i32";
    case TensorProto::INT16: return "i16";
    case TensorProto::INT8: return "i8";
    case TensorProto::UINT64: return "u64";
    case TensorProto::UINT32: return "u32";
    case TensorProto::UINT16: return "u16";
    case TensorProto::UINT8: return "u8";
    case TensorProto::BOOL: return "boolean";
    case TensorProto::INT4: return "i4";
    case TensorProto::UINT4: return "u4";
    default: return "?";
  }
}

bool is_narrow(int type) {
  return type == TensorProto::INT8 || type == TensorProto::UINT8 || type == TensorProto::INT4 || type == TensorProto::UINT4;
}

// The graph's values by name: type, and what makes them as words that do not depend on names.
class Values {
 public:
  explicit Values(const onnx::GraphProto& graph) {
    for (const auto& input : graph.input()) add(input.name(), input.type().tensor_type().elem_type(), "input");
    for (const TensorProto& tensor : graph.initializer()) {
      Sha256 digest;
      for (const auto size : tensor.dims()) digest.field(fmt::format("{}", size));
      onnx::TensorProto nameless = tensor;
      nameless.clear_name();
      digest.field(nameless.SerializeAsString());
      add(tensor.name(), tensor.data_type(), digest.hex());
      if (tensor.dims_size() >= 2) weights_.insert(tensor.name());
    }
  }
  void add(const std::string& name, int type, std::string origin) { known_[name] = {type, std::move(origin)}; }
  int type_of(const std::string& name) const {
    const auto found = known_.find(name);
    return found == known_.end() ? TensorProto::UNDEFINED : found->second.first;
  }
  std::string origin_of(const std::string& name) const {
    const auto found = known_.find(name);
    return found == known_.end() ? "none" : found->second.second;
  }
  bool is_weight(const std::string& name) const { return weights_.contains(name); }

 private:
  std::unordered_map<std::string, std::pair<int, std::string>> known_;
  std::set<std::string> weights_;
};

const onnx::AttributeProto* attribute(const onnx::NodeProto& node, std::string_view name) {
  const auto found = std::ranges::find_if(node.attribute(), [&](const auto& one) { return one.name() == name; });
  return found == node.attribute().end() ? nullptr : &*found;
}

// The type of a node's first output. The file says types of inputs and constants only, so the operators that change the type
// are listed here; all others keep the type of their first input.
int output_type(const onnx::NodeProto& node, const Values& values) {
  const std::string& op = node.op_type();
  const auto input = [&](int i) { return i < node.input_size() ? values.type_of(node.input(i)) : TensorProto::UNDEFINED; };
  const auto among = [&](std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return op == name; });
  };
  if (const auto* to = attribute(node, "to"); op == "Cast" && to != nullptr) return static_cast<int>(to->i());
  if (const auto* value = attribute(node, "value"); among({"Constant", "ConstantOfShape"})) {
    return value == nullptr ? TensorProto::FLOAT : value->t().data_type();
  }
  if (op == "QuantizeLinear") return node.input_size() > 2 ? input(2) : TensorProto::UINT8;
  if (among({"DequantizeLinear", "Where"})) return input(1);
  if (op == "DynamicQuantizeLinear") return TensorProto::UINT8;
  if (op == "QLinearConv" || op == "QLinearMatMul") return input(7);
  if (among({"ConvInteger", "MatMulInteger"})) return TensorProto::INT32;
  if (op == "MatMulIntegerToFloat") return input(2);
  if (among({"Shape", "Size", "NonZero", "ArgMax", "ArgMin"})) return TensorProto::INT64;
  if (among({"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Not", "And", "Or", "Xor", "IsNaN", "IsInf"})) {
    return TensorProto::BOOL;
  }
  return input(0);
}

}  // namespace

EngineResult<GraphFacts> describe_graph(const std::filesystem::path& file) {
  const onnx::ModelProto model = FIEL_TRY_ENGINE(read_model(file));
  const onnx::GraphProto& graph = model.graph();
  Values values(graph);
  GraphFacts facts;
  std::vector<std::string> lines;
  for (const onnx::NodeProto& node : graph.node()) {
    Sha256 line;
    line.field(node.domain()).field(node.op_type());
    std::vector<std::string> attributes;
    for (const auto& one : node.attribute()) attributes.push_back(one.SerializeAsString());
    std::ranges::sort(attributes);
    for (const std::string& one : attributes) line.field(one);
    const int type = output_type(node, values);
    int precision = type;
    for (const std::string& input : node.input()) {
      line.field(values.origin_of(input));
      if (values.is_weight(input) && is_narrow(values.type_of(input))) precision = values.type_of(input);
    }
    lines.push_back(line.hex());
    for (int i = 0; i < node.output_size(); ++i) values.add(node.output(i), type, fmt::format("{}:{}", lines.back(), i));
    if (node.op_type() == "TopK" && node.output_size() > 1) values.add(node.output(1), TensorProto::INT64, lines.back() + ":1");
    ++facts.precisions[short_name(precision)];
    ++facts.node_count;
  }
  for (const auto& output : graph.output()) lines.push_back("output " + values.origin_of(output.name()));
  std::ranges::sort(lines);  // independent branches may be written in either order
  Sha256 digest;
  for (const auto& input : graph.input()) digest.field(input.type().SerializeAsString());
  for (const std::string& one : lines) digest.field(one);
  facts.digest = digest.hex();
  return facts;
}

}  // namespace fiel
