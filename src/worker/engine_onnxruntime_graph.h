// An ONNX file seen without ONNX Runtime: its input shapes are fixed before a build, and the graph that ONNX Runtime made of it
// is described after one. Private to engine_onnxruntime*.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "worker/engine.h"

namespace fiel {

/// What is to be built from: the file as it is, or the same with other shapes.
struct ModelSource {
  std::filesystem::path path;
  std::optional<std::string> rewritten;  // to be built from these bytes; external data is still found beside `path`
  bool has_external_data = false;
  std::int64_t bytes = 0;  // with the external data
};

/// Fixes the shapes as the settings `shape` and `batch` say.
EngineResult<ModelSource> read_source(const BuildRequest& request);

struct GraphFacts {
  std::string digest;                     // of what it computes: operators, attributes, constants, edges; not of names
  std::map<std::string, int> precisions;  // "f32", "i8", ... of nodes; by rules of ours, the file does not say
  int node_count = 0;
};

EngineResult<GraphFacts> describe_graph(const std::filesystem::path& file);

}  // namespace fiel
