// The requests of docs/protocol.md as functions: they form the message, wait, and believe nothing of the answer. An
// answer that breaks the protocol (missing or repeated samples, latencies that are not finite and positive, a count
// that does not match the file, output files outside the folder or behind a link ...) is a Failure of kind kProtocol,
// and the worker is not to be used any more.
#pragma once

#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "contract/contract.h"
#include "contract/dataset.h"
#include "model/tensor.h"
#include "pool/worker.h"
#include "route/knob.h"

namespace fiel {

template <class T>
using Outcome = std::variant<T, Failure>;

struct HelloResult {
  std::string engine;
  std::string version;
  std::vector<std::string> devices;       // "CPU: AMD EPYC"
  std::vector<std::string> cpu_features;
  std::vector<std::string> capabilities;
  std::vector<Knob> knobs;
  std::map<std::string, std::string> float32_settings;  // the settings that pin strict float32
  std::string json;  // the whole result, for the journal
};

struct BuildOrder {
  std::filesystem::path model;
  std::string device;
  std::map<std::string, std::string> settings;  // without those of kind environment
  std::span<const TrafficShape> shapes;
  std::filesystem::path artifact_dir;
};

/// What the engine says that it does (read back, not what was asked for).
struct Effective {
  std::map<std::string, std::string> settings;
  std::map<std::string, std::int64_t> precisions;
  std::map<std::string, std::int64_t> placement;
  std::string graph_digest;
  std::vector<std::string> ignored;
};

struct BuildResult {
  double build_seconds = 0;
  Effective effective;
};

struct LoadOrder {
  std::filesystem::path artifact_dir;
  std::string device;
  std::map<std::string, std::string> settings;
  std::span<const TrafficShape> shapes;
  Scenario scenario = Scenario::kSingleStream;
  std::span<const StateLink> state;
  bool profile = false;  // for request_profile; what runs so is timed for nothing else
};

struct LoadedPort {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;  // -1: dynamic
};

struct LoadResult {
  double load_seconds = 0;
  Effective effective;
  std::vector<LoadedPort> inputs;
  std::vector<LoadedPort> outputs;
  int parallel_requests = 1;
};

/// Samples `indices` of `set`, in that order.
struct SampleChoice {
  const SampleSet& set;
  std::vector<int> indices;
};

struct OutputFiles {
  int index = 0;                                         // of the sample in its set
  std::map<std::string, std::filesystem::path> files;    // output name -> .npy
};

struct InferOrder {
  SampleChoice samples;
  std::int64_t batch = 1;
};

struct InferResult {
  double seconds = 0;
  std::vector<OutputFiles> outputs;  // in the order asked; files lie in the worker's scratch folder
};

struct MeasureOrder {
  SampleChoice samples;
  Scenario scenario = Scenario::kSingleStream;
  std::int64_t batch = 1;
  std::int64_t warmup_count = 2;
  std::int64_t min_count = 5;
  double min_seconds = 0.1;
  double max_seconds = 10;
  std::uint64_t seed = 0;
  std::vector<double> arrivals_seconds = {};  // server: when each request is due, ascending
};

struct MeasureResult {
  std::int64_t count = 0;  // inferences; offline: samples; server: requests, the first ones of the arrivals
  double seconds = 0;
  std::vector<double> latencies_seconds;
  std::vector<double> warmup_seconds;
  std::vector<OutputFiles> outputs;  // of the last timed inference
  // What an accelerator says of itself, for people; nothing is decided by it.
  std::optional<double> device_p50_seconds = {};
  std::optional<std::int64_t> device_memory_bytes = {};
};

Outcome<HelloResult> request_hello(Worker& worker, double deadline_seconds);
Outcome<BuildResult> request_build(Worker& worker, const BuildOrder& order, double deadline_seconds);
Outcome<LoadResult> request_load(Worker& worker, const LoadOrder& order, double deadline_seconds);
/// What earlier requests left in the worker's output folder goes or is spoiled first. Large choices are the caller's to cut into chunks.
Outcome<InferResult> request_infer(Worker& worker, const InferOrder& order, double deadline_seconds);

/// An infer request under way. Its outputs are whole, and its folder theirs, until the request after the next one.
struct BegunInfer {
  InferOrder order;
  std::filesystem::path folder;
};
/// The two halves of request_infer. Nothing is written below `still_read`, the folder of the request before.
Outcome<BegunInfer> begin_infer(Worker& worker, const InferOrder& order, double deadline_seconds,
                                const std::filesystem::path& still_read);
Outcome<InferResult> finish_infer(Worker& worker, const BegunInfer& begun);

/// What one node of the graph that runs took of an inference, in the mean, and which of the model's nodes became it.
struct NodeSeconds {
  std::vector<std::string> names;
  double seconds = 0;
};
/// Of a worker with the capability "profile" that has inferred since a load with `profile`.
Outcome<std::vector<NodeSeconds>> request_profile(Worker& worker, double deadline_seconds);

Outcome<MeasureResult> request_measure(Worker& worker, const MeasureOrder& order, double deadline_seconds);
/// Ends the worker politely; one that does not answer is killed, and one that is busy is left for its destructor. Never fails.
void say_bye(Worker& worker);

}  // namespace fiel
