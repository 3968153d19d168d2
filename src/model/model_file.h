// A model in whatever format: what is known of it without an engine.
//
//   .onnx     all that onnx_model.h has
//   .xml      OpenVINO IR, with its .bin beside it: inputs and outputs
//   .tflite   the same
#pragma once

#include <filesystem>
#include <string>

#include "model/onnx_model.h"

namespace fiel {

/// Is it called like a model, and not like a contract?
bool is_called_a_model(const std::filesystem::path& path);

/// Is it one whose nodes and weights can be looked at, and rewritten?
bool is_onnx(const OnnxModel& model);

/// A model of one of these formats. What is no ONNX model has neither opset nor metadata.
Result<OnnxModel> read_model(const std::filesystem::path& path);

/// SHA-256 of a model's files: an ONNX file's as OnnxModel::digest; of OpenVINO IR the .xml and the .bin beside it; else of the
/// one file.
Result<std::string> digest_model_file(const std::filesystem::path& path);

}  // namespace fiel
