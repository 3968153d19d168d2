// The one seam between fiel and an inference engine, on the worker's side. An engine compiles, loads and runs; it knows
// nothing of candidates, statistics or accuracy. One engine object per worker process.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "model/tensor.h"

namespace fiel {

using Settings = std::map<std::string, std::string>;

struct EngineError {
  std::string reason;   // unsupported | build_error | out_of_memory | bad_request | internal
  std::string message;  // the engine's own words
};
template <class T = void>
using EngineResult = std::expected<T, EngineError>;

struct BuildRequest {
  std::filesystem::path model;
  std::string device;
  Settings settings;
  std::vector<std::map<std::string, Shape>> shapes;
  std::filesystem::path artifact_dir;
};

struct LoadRequest {
  std::filesystem::path artifact_dir;
  std::string device;
  Settings settings;
  std::vector<std::map<std::string, Shape>> shapes;
  std::string scenario;  // "single_stream" | "offline" | "server"
  bool profile = false;  // count the time of single nodes, for profile(); what runs so is timed for nothing else
};

struct BuildReport {
  double build_seconds = 0;
  Settings effective;
  std::map<std::string, int> precisions;
  std::map<std::string, int> placement;
  std::string graph_digest;
  std::vector<std::string> ignored;
};

struct EnginePort {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;  // -1: dynamic
};

struct LoadReport {
  double load_seconds = 0;
  Settings effective;
  std::map<std::string, int> precisions;
  std::map<std::string, int> placement;
  std::string graph_digest;
  std::vector<EnginePort> inputs;
  std::vector<EnginePort> outputs;
  int parallel_requests = 1;
};

/// What one node of the graph that runs took.
struct NodeTime {
  std::vector<std::string> names;  // the model's nodes that became it, or the tensor that it gives
  double seconds = 0;              // of one inference, in the mean
};

class SelfTimed;

class Engine {
 public:
  virtual ~Engine() = default;

  virtual EngineResult<Json> describe() = 0;  // the body of hello's result
  virtual EngineResult<BuildReport> build(const BuildRequest& request) = 0;
  virtual EngineResult<LoadReport> load(const LoadRequest& request) = 0;

  // One inference in slot 0 <= slot < parallel_requests. prepare() copies the inputs (in the order of LoadReport::inputs)
  // into memory of the engine's own; run() is the timed part and does nothing else; outputs() copies out. Different
  // slots may be used from different threads at the same time, one slot never is. What these throw is caught (guard.h).
  virtual EngineResult<> prepare(int slot, const std::vector<TensorView>& inputs) = 0;
  virtual EngineResult<> run(int slot) = 0;
  virtual EngineResult<> start(int slot) = 0;  // asynchronous run, for offline and server
  virtual EngineResult<> wait(int slot) = 0;
  virtual EngineResult<std::vector<Tensor>> outputs(int slot) = 0;

  // Of the inferences since load() with `profile`. Engines that can say it have "profile" among hello's capabilities.
  virtual EngineResult<std::vector<NodeTime>> profile() {
    return std::unexpected(EngineError{"unsupported", "this engine does not tell the times of single nodes"});
  }

  /// Not null: this engine does its own timing (self_timed.h), and the loops of timed_loop.h have no part in it.
  virtual SelfTimed* self_timed() { return nullptr; }
};

/// The worker's main loop over an engine: keeps descriptors 0 and 1, answers requests, never throws. Returns the
/// exit status of the process.
int serve(Engine& engine);

}  // namespace fiel
