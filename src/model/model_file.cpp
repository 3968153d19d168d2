#include "model/model_file.h"

#include "base/digest.h"
#include "base/files.h"
#include "model/openvino_ir.h"
#include "model/tflite.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostBytes = std::int64_t{2} << 30;  // as of ONNX; weights of an IR lie beside it

bool is_ir(const fs::path& path) { return path.extension() == ".xml"; }

bool is_of_another_format(const fs::path& path) { return is_ir(path) || path.extension() == ".tflite"; }

// Empty where there are none: an IR without weights is one, too.
fs::path weights_of(const fs::path& path) {
  fs::path weights = path;
  weights.replace_extension(".bin");
  std::error_code code;
  return is_ir(path) && fs::is_regular_file(weights, code) ? weights : fs::path();
}

// Weights beside the file count, too.
Result<std::string> with_weights(std::string own, const fs::path& path) {
  const fs::path weights = weights_of(path);
  if (weights.empty()) return own;
  Sha256 digest;
  digest.field(own).field(FIEL_TRY(sha256_file(weights)));
  return digest.hex();
}

Result<OnnxModel> read_other(const fs::path& path) {
  const std::string bytes = FIEL_TRY(read_text(path, kMostBytes));
  ModelPorts ports = FIEL_TRY(is_ir(path) ? read_openvino_ir(bytes) : read_tflite(bytes));
  OnnxModel model;
  model.path = path;
  model.digest = FIEL_TRY(with_weights(sha256_hex(bytes), path));
  model.producer = is_ir(path) ? "OpenVINO IR" : "TFLite";
  model.inputs = std::move(ports.inputs);
  model.outputs = std::move(ports.outputs);
  if (const fs::path weights = weights_of(path); !weights.empty()) model.external_data.push_back(weights);
  return model;
}

}  // namespace

bool is_called_a_model(const fs::path& path) {
  return path.extension() == ".onnx" || is_of_another_format(path);
}

bool is_onnx(const OnnxModel& model) { return !is_of_another_format(model.path); }

Result<OnnxModel> read_model(const fs::path& path) {
  if (!is_of_another_format(path)) return read_onnx_model(path);
  std::error_code code;
  const fs::path absolute = fs::absolute(path, code).lexically_normal();
  auto model = read_other(absolute);
  if (!model) return std::unexpected(std::move(model).error().with_context(absolute.string()));
  return model;
}

Result<std::string> digest_model_file(const fs::path& path) {
  if (path.extension() == ".onnx") return FIEL_TRY(read_onnx_model(path)).digest;
  return with_weights(FIEL_TRY(sha256_file(path)), path);
}

}  // namespace fiel
