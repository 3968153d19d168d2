#include "model/model_file.h"

#include "base/digest.h"
#include "model/onnx_model.h"

namespace fiel {

Result<std::string> digest_model_file(const std::filesystem::path& path) {
  if (path.extension() == ".onnx") return FIEL_TRY(read_onnx_model(path)).digest;
  const std::string own = FIEL_TRY(sha256_file(path));
  std::filesystem::path weights = path;
  weights.replace_extension(".bin");
  std::error_code code;
  if (path.extension() != ".xml" || !std::filesystem::is_regular_file(weights, code)) return own;
  Sha256 digest;
  digest.field(own).field(FIEL_TRY(sha256_file(weights)));
  return digest.hex();
}

}  // namespace fiel
