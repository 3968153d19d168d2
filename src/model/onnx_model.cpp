#include "model/onnx_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>
#include <unordered_map>

#include "base/digest.h"
#include "base/printable.h"
#include "model/onnx_dtype.h"
#include "model/onnx_external.h"
#include "onnx-ml.pb.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

/// protobuf reads almost any bytes as something; these are the files that people really mistake for
/// a model.
Result<> check_beginning(std::ifstream& file) {
  std::string start(64, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  file.clear();
  file.seekg(0);
  if (start.empty()) return refuse("the file is empty", "export the model again");
  if (start.starts_with("version https://git-lfs")) {
    return refuse("the file is a pointer of Git LFS, not the model", "fetch it: git lfs pull");
  }
  if (start.starts_with("PK")) {
    return refuse("the file is an archive, not an ONNX model",
                  "unpack it, or export a PyTorch model with torch.onnx.export");
  }
  if (start.starts_with("<"))
    return refuse("the file is XML or HTML, not an ONNX model", "give the .onnx file itself");
  return {};
}

Result<> parse(const fs::path& path, onnx::ModelProto& model) {
  std::error_code code;
  if (!fs::exists(path, code))
    return refuse("no such file", "model.path is taken from the contract's own folder");
  if (!fs::is_regular_file(path, code))
    return refuse("it is no file", "give the path of an .onnx file");
  const auto size = fs::file_size(path, code);
  if (size > std::numeric_limits<int>::max()) {
    return refuse(
        fmt::format("it has {} bytes, and protobuf reads 2 GiB at most", size),
        "save its weights as external data: onnx.save(model, path, save_as_external_data=True)");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorKind::kEnvironment, "it cannot be read", "check its permissions");
  FIEL_TRY(check_beginning(file));
  google::protobuf::io::IstreamInputStream stream(&file);
  if (!model.ParseFromZeroCopyStream(&stream)) {
    return refuse("it is no ONNX model, or a truncated one", "export or copy it again");
  }
  if (!model.has_graph() || model.ir_version() <= 0) {
    return refuse("it is no ONNX model: it has no graph or no version", "export it again");
  }
  return {};
}

std::string type_name(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType:
      return fmt::format("tensor({})", onnx_type_name(type.tensor_type().elem_type()));
    case onnx::TypeProto::kSparseTensorType:
      return fmt::format("sparse_tensor({})",
                         onnx_type_name(type.sparse_tensor_type().elem_type()));
    case onnx::TypeProto::kSequenceType:
      return "sequence";
    case onnx::TypeProto::kMapType:
      return "map";
    case onnx::TypeProto::kOptionalType:
      return "optional";
    case onnx::TypeProto::kOpaqueType:
      return "opaque";
    case onnx::TypeProto::VALUE_NOT_SET:
      break;
  }
  return "undefined";
}

ModelPort to_port(const onnx::ValueInfoProto& info) {
  ModelPort port;
  port.name = info.name();
  port.type_name = type_name(info.type());
  if (!info.type().has_tensor_type()) return port;
  const auto& tensor = info.type().tensor_type();
  port.dtype = dtype_of_onnx(tensor.elem_type());
  if (!tensor.has_shape()) return port;
  port.dims.emplace();
  for (const auto& dim : tensor.shape().dim()) {
    // Some exporters write -1 where they mean a dynamic axis.
    const bool fixed = dim.has_dim_value() && dim.dim_value() >= 0;
    port.dims->push_back({fixed ? dim.dim_value() : -1, printable(dim.dim_param())});
  }
  return port;
}

Result<std::vector<ModelPort>> to_ports(
    const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& infos,
    const std::set<std::string>& initializers, std::string_view kind) {
  std::vector<ModelPort> ports;
  std::set<std::string> names;
  for (const auto& info : infos) {
    if (initializers.contains(info.name())) continue;
    if (info.name().empty())
      return refuse(fmt::format("one of its {}s has no name", kind), "export it again");
    if (printable(info.name()) != info.name()) {  // it goes into messages, records and files of others
      return refuse(fmt::format("the name of one of its {}s is no text: '{}'", kind, excerpt(info.name(), 100)), "export it again");
    }
    if (!names.insert(info.name()).second) {
      return refuse(fmt::format("it has two {}s named '{}'", kind, info.name()), "export it again");
    }
    ports.push_back(to_port(info));
  }
  if (ports.empty()) {
    return refuse(fmt::format("its graph has no {}s", kind),
                  "a model needs both inputs and outputs to be judged");
  }
  return ports;
}

std::set<std::string> initializer_names(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) names.insert(sparse.values().name());
  return names;
}

/// Engines hang or abort on a graph that feeds itself, so this is seen before one is started
/// (Kahn's algorithm).
Result<> check_acyclic(const onnx::GraphProto& graph) {
  std::unordered_map<std::string, int> producer;
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const auto& output : graph.node(i).output()) {
      if (!output.empty() && !producer.emplace(output, i).second) {
        return refuse(fmt::format("two nodes of its graph make '{}'", output), "export it again");
      }
    }
  }
  std::set<std::string> given = initializer_names(graph);
  for (const auto& input : graph.input()) given.insert(input.name());
  for (const auto& [name, node] : producer) {
    if (given.contains(name)) {
      return refuse(fmt::format("a node of its graph makes '{}', which is an input or a weight too", name), "export it again");
    }
  }
  std::vector<std::vector<int>> consumers(static_cast<std::size_t>(graph.node_size()));
  std::vector<int> waits(consumers.size(), 0);
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const auto& input : graph.node(i).input()) {
      const auto found = producer.find(input);
      if (found == producer.end()) continue;
      consumers[static_cast<std::size_t>(found->second)].push_back(i);
      ++waits[static_cast<std::size_t>(i)];
    }
  }
  std::vector<int> ready;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (waits[static_cast<std::size_t>(i)] == 0) ready.push_back(i);
  }
  for (std::size_t done = 0; done < ready.size(); ++done) {
    for (const int next : consumers[static_cast<std::size_t>(ready[done])]) {
      if (--waits[static_cast<std::size_t>(next)] == 0) ready.push_back(next);
    }
  }
  if (ready.size() == consumers.size()) return {};
  const auto stuck =
      std::ranges::find_if(waits, [](int count) { return count > 0; }) - waits.begin();
  const auto& node = graph.node(static_cast<int>(stuck));
  return refuse(
      fmt::format("its graph runs in a circle through node '{}' ({})", node.name(), node.op_type()),
      "export it again");
}

Result<OnnxModel> read(const fs::path& path) {
  onnx::ModelProto proto;
  FIEL_TRY(parse(path, proto));
  OnnxModel model;
  model.path = path;
  for (const auto& opset : proto.opset_import()) {
    if (opset.domain().empty() || opset.domain() == "ai.onnx") model.opset = opset.version();
  }
  model.producer = printable(proto.producer_name());
  if (!proto.producer_version().empty()) model.producer += " " + printable(proto.producer_version());
  for (const auto& entry : proto.metadata_props()) model.metadata[entry.key()] = entry.value();

  const auto initializers = initializer_names(proto.graph());
  model.inputs = FIEL_TRY(to_ports(proto.graph().input(), initializers, "input"));
  model.outputs = FIEL_TRY(to_ports(proto.graph().output(), {}, "output"));
  FIEL_TRY(check_acyclic(proto.graph()));
  model.external_data = FIEL_TRY(find_external_data(proto, path.parent_path()));

  model.digest = FIEL_TRY(sha256_file(path));
  if (model.external_data.empty()) return model;  // then it is what sha256sum says of the file
  std::error_code code;
  const fs::path folder = fs::canonical(path.parent_path(), code);
  Sha256 digest;
  digest.field(model.digest);
  for (const auto& file : model.external_data) {
    digest.field(file.lexically_relative(folder).generic_string());
    digest.field(FIEL_TRY(sha256_file(file)));
  }
  model.digest = digest.hex();
  return model;
}

}  // namespace

Result<OnnxModel> read_onnx_model(const fs::path& path) {
  std::error_code code;
  const fs::path absolute = fs::absolute(path, code).lexically_normal();
  auto model = read(absolute);
  if (model) return model;
  Error error = std::move(model).error().with_context(absolute.string());
  error.message = printable(error.message);  // names of nodes and tensors are whatever the file says
  return std::unexpected(std::move(error));
}

const ModelPort* find_port(const std::vector<ModelPort>& ports, std::string_view name) {
  const auto found = std::ranges::find(ports, name, &ModelPort::name);
  return found == ports.end() ? nullptr : &*found;
}

std::string describe(const ModelPort& port) {
  std::string text =
      fmt::format("{}: {}", port.name, port.dtype ? to_string(*port.dtype) : port.type_name);
  if (!port.dims) return port.dtype ? text + " [...]" : text;
  std::vector<std::string> dims;
  for (const Dimension& dim : *port.dims) {
    dims.push_back(dim.size >= 0 ? std::to_string(dim.size) : dim.name.empty() ? "?" : dim.name);
  }
  return fmt::format("{} [{}]", text, fmt::join(dims, ", "));
}

}  // namespace fiel
