#include "variant/external.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <string>

#include "base/files.h"

namespace fiel::graph {
namespace {

constexpr std::size_t kSmallBytes = 1024;   // stays in the model: shapes, scales
constexpr std::int64_t kAlignment = 4096;   // so that engines can map the file

std::uint64_t number(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Result<> fetch(onnx::TensorProto& tensor, const std::filesystem::path& folder) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return {};
  std::string location;
  std::uint64_t offset = 0, length = 0;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = number(entry.value());
    if (entry.key() == "length") length = number(entry.value());
  }
  const auto file = folder / location;
  const auto lost = [&] {
    return fail(ErrorKind::kContract, fmt::format("the model can't be rewritten: the weights {} can't be read from {}",
                                                  tensor.name(), file.string()),
                "copy that file beside the model");
  };
  std::error_code code;
  const auto size = std::filesystem::file_size(file, code);
  if (code || offset > size || length > size - offset) return lost();
  if (length == 0) length = size - offset;
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  std::string& bytes = *tensor.mutable_raw_data();
  bytes.resize(length);
  if (!stream.read(bytes.data(), static_cast<std::streamsize>(length))) return lost();
  tensor.clear_external_data();
  tensor.clear_data_location();
  return {};
}

void say(onnx::TensorProto& tensor, const char* key, const std::string& value) {
  auto& entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(value);
}

}  // namespace

Result<> fetch_weights(onnx::ModelProto& model, const std::filesystem::path& folder) {
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) FIEL_TRY(fetch(tensor, folder));
  for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) FIEL_TRY(fetch(*attribute.mutable_t(), folder));
    }
  }
  return {};
}

Result<> move_weights_out(onnx::ModelProto& model, const std::filesystem::path& file) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  std::int64_t at = 0;
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (!tensor.has_raw_data() || tensor.raw_data().size() <= kSmallBytes) continue;
    at = (at + kAlignment - 1) / kAlignment * kAlignment;
    const auto length = static_cast<std::streamsize>(tensor.raw_data().size());
    stream.seekp(at);
    stream.write(tensor.raw_data().data(), length);
    say(tensor, "location", file.filename().string());
    say(tensor, "offset", fmt::format("{}", at));
    say(tensor, "length", fmt::format("{}", length));
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    tensor.clear_raw_data();
    at += length;
  }
  stream.close();
  if (!stream) return std::unexpected(file_error("write", file, errno));
  return {};
}

}  // namespace fiel::graph
