// What an ONNX model says of itself, without an engine: names, dtypes and shapes of inputs and
// outputs, opset, metadata, external data, and a digest of all that. Knows nothing of data or
// contracts.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/tensor.h"

namespace fiel {

struct Dimension {
  std::int64_t size = -1;  // -1: dynamic
  std::string name;        // the model's name for a dynamic axis, may be empty
};

struct ModelPort {
  std::string name;
  std::optional<DType>
      dtype;              // nullopt: a type we do not carry (string, sequence, complex, 4-bit, ...)
  std::string type_name;  // in ONNX's words, for messages: "tensor(string)", "sequence"
  std::optional<std::vector<Dimension>> dims;  // nullopt: the model does not even give a rank
};

struct OnnxModel {
  std::filesystem::path path;
  std::string digest;  // SHA-256 over the file and, in order, every external data file
  std::int64_t opset = 0;
  std::string producer;
  std::vector<ModelPort> inputs;  // without initialisers
  std::vector<ModelPort> outputs;
  std::vector<std::filesystem::path>
      external_data;  // absolute; all exist, all below the model's folder
  std::map<std::string, std::string> metadata;
};

/// Reads and checks the file: a protobuf that parses, a graph, ports with names, external data
/// present and inside the model's own folder ("../" and absolute paths are refused).
Result<OnnxModel> read_onnx_model(const std::filesystem::path& path);

const ModelPort* find_port(const std::vector<ModelPort>& ports, std::string_view name);
std::string describe(const ModelPort& port);  // "x: float32 [N, 3, 48, ?]"

}  // namespace fiel
