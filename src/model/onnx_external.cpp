#include "model/onnx_external.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "base/numbers.h"
#include "onnx-ml.pb.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

/// Bytes that must be there, by the location as the model writes it.
using Needs = std::map<std::string, std::uint64_t>;

Result<std::uint64_t> parse_size(const std::string& tensor, const std::string& key,
                                 const std::string& text) {
  const auto value = number_from<std::uint64_t>(text);
  if (!value || *value > INT64_MAX) {
    return refuse(
        fmt::format("tensor '{}' has '{}' as the {} of its external data", tensor, text, key),
        "export the model again");
  }
  return *value;
}

Result<> add_tensor(const onnx::TensorProto& tensor, Needs& needs) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return {};
  std::string location;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset")
      offset = FIEL_TRY(parse_size(tensor.name(), "offset", entry.value()));
    if (entry.key() == "length")
      length = FIEL_TRY(parse_size(tensor.name(), "length", entry.value()));
  }
  if (location.empty() || location.find('\0') != std::string::npos) {
    return refuse(fmt::format("tensor '{}' is external, but names no file", tensor.name()),
                  "export the model again");
  }
  auto& need = needs[location];
  need = std::max(need, offset + length);
  return {};
}

Result<> add_sparse(const onnx::SparseTensorProto& sparse, Needs& needs) {
  FIEL_TRY(add_tensor(sparse.values(), needs));
  return add_tensor(sparse.indices(), needs);
}

Result<> add_graph(const onnx::GraphProto& graph, Needs& needs);

/// Tensors hide in attributes too, and graphs in the attributes of If and Loop. protobuf itself
/// refuses more than 100 levels, so this recursion ends.
Result<> add_node(const onnx::NodeProto& node, Needs& needs) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_t()) FIEL_TRY(add_tensor(attribute.t(), needs));
    for (const auto& tensor : attribute.tensors()) FIEL_TRY(add_tensor(tensor, needs));
    if (attribute.has_sparse_tensor()) FIEL_TRY(add_sparse(attribute.sparse_tensor(), needs));
    for (const auto& sparse : attribute.sparse_tensors()) FIEL_TRY(add_sparse(sparse, needs));
    if (attribute.has_g()) FIEL_TRY(add_graph(attribute.g(), needs));
    for (const auto& graph : attribute.graphs()) FIEL_TRY(add_graph(graph, needs));
  }
  return {};
}

Result<> add_graph(const onnx::GraphProto& graph, Needs& needs) {
  for (const auto& tensor : graph.initializer()) FIEL_TRY(add_tensor(tensor, needs));
  for (const auto& sparse : graph.sparse_initializer()) FIEL_TRY(add_sparse(sparse, needs));
  for (const auto& node : graph.node()) FIEL_TRY(add_node(node, needs));
  return {};
}

bool lies_in(const fs::path& file, const fs::path& folder) {
  const auto relative = file.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

Result<fs::path> check_file(const std::string& location, std::uint64_t need,
                            const fs::path& folder) {
  const fs::path relative(location);
  constexpr const char* kHint =
      "put the model and all its data into one folder; a model may not point outside it";
  if (relative.is_absolute() || !lies_in((folder / relative).lexically_normal(), folder)) {
    return refuse(fmt::format("its external data '{}' lie outside its folder", location), kHint);
  }
  std::error_code code;
  const fs::path file = fs::canonical(folder / relative, code);
  if (code || !fs::is_regular_file(file, code)) {
    return refuse(fmt::format("its external data '{}' are not in {}", location, folder.string()),
                  "copy that file beside the model");
  }
  if (!lies_in(file, folder)) {
    return refuse(fmt::format("its external data '{}' are a link out of its folder, to {}",
                              location, file.string()),
                  kHint);
  }
  const std::uint64_t size = fs::file_size(file, code);
  if (code || size < need) {
    return refuse(fmt::format("its external data '{}' have {} bytes, but the model uses {}",
                              location, size, need),
                  "the file is truncated: copy it again");
  }
  return file;
}

}  // namespace

Result<std::vector<fs::path>> find_external_data(const onnx::ModelProto& model,
                                                 const fs::path& folder) {
  Needs needs;
  FIEL_TRY(add_graph(model.graph(), needs));
  for (const auto& function : model.functions()) {
    for (const auto& node : function.node()) FIEL_TRY(add_node(node, needs));
  }
  std::error_code code;
  const fs::path real_folder = fs::canonical(folder, code);
  if (code) return fail(ErrorKind::kEnvironment, fmt::format("cannot read {}", folder.string()));
  std::vector<fs::path> files;
  for (const auto& [location, need] : needs)
    files.push_back(FIEL_TRY(check_file(location, need, real_folder)));
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

}  // namespace fiel
