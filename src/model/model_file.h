// A model in whatever format: its bytes are all that is known of it here.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace fiel {

/// SHA-256 of a model's files: an ONNX file's as OnnxModel::digest; of OpenVINO IR the .xml and the .bin beside it; else of the
/// one file.
Result<std::string> digest_model_file(const std::filesystem::path& path);

}  // namespace fiel
