// What the scripted engine is told to be: docs/fake-engine.md describes the file, this reads it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "model/tensor.h"

namespace fiel::fake {

using Settings = std::map<std::string, std::string>;

struct Port {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;  // -1: dynamic
};

enum class OutputRule {
  kClass,  // logits whose largest element is the sample's class
  kScale,  // factor x the first input
};
enum class ClassSource {
  kInput,  // the first element of the first input, as an integer
  kHash,   // a hash of all input bytes
};

struct Output {
  Port port;
  OutputRule rule = OutputRule::kClass;
  ClassSource class_source = ClassSource::kInput;
  double margin = 4;  // kClass: by how much the class stands out
  double factor = 2;  // kScale
};

struct FakeKnob {
  std::string name;
  std::string kind;
  std::vector<std::string> values;
  std::string default_value;
  std::map<std::string, double> latency;         // factor by value
  std::map<std::string, double> build;           // factor by value
  std::map<std::string, std::int64_t> parallel;  // parallel_requests by value
  std::map<std::string, std::string> effective;  // what the engine makes of a value
  std::map<std::string, std::map<std::string, std::int64_t>> precisions;  // by value
  bool has_effect = true;
};

struct Interaction {
  Settings when;
  double latency = 1;
};

/// Multiplies latencies; all parts are off at 0. Standard deviations are of the logarithm.
struct Noise {
  double sigma = 0;          // each inference on its own
  double process_sigma = 0;  // one draw a process and route
  double common_sigma = 0;   // one draw a block seed: the same for all candidates of a round
  double ar1_rho = 0;        // correlation of neighbours,
  double ar1_sigma = 0;      // and its stationary deviation
  double drift_per_inference = 0;
  double drift_per_block = 0;
  double mode_share = 0;   // share of inferences in a second mode,
  double mode_factor = 1;  // and how slow it is
  double spike_share = 0;
  double spike_factor = 1;
  double period_inferences = 0;  // a load that comes and goes
  double period_amplitude = 0;
  double cold_factor = 1;  // the first inference of a process
};

/// When and on what a fault acts, and what it is.
struct Fault {
  Settings when;
  std::set<std::string> phases;
  std::optional<std::int64_t> batch;
  std::optional<std::int64_t> from_process, to_process;
  std::int64_t from_inference = 0;
  bool only_timed = false;  // outputs of measure, and of infer after it in the same process
  bool asked_again = false;   // samples that infer had before in this process
  bool other_place = false;   // samples that had another sample before them when infer had them first in this process
  std::int64_t sample_modulo = 1, sample_is = 0;
  std::string action;
  std::string parameters;  // the whole rule as JSON text
  std::uint64_t seed = 0;
};

struct Script {
  std::string engine = "fake";
  std::string version = "1.0";
  std::uint64_t seed = 1;
  std::vector<Port> inputs;
  std::vector<Output> outputs;
  std::vector<FakeKnob> knobs;
  std::string hello_knobs;  // as they go into hello, JSON text
  Settings float32_settings;
  std::vector<std::string> capabilities;
  double latency_seconds = 0.001;
  double batch_cost = 1;  // each further sample of a batch costs so much of the first
  double build_seconds = 0.1;
  double load_seconds = 0.01;
  std::int64_t artifact_bytes = 0;
  std::map<std::string, std::int64_t> precisions;
  std::vector<Interaction> interactions;
  Noise noise;
  std::vector<Fault> faults;
  bool computed_time = true;  // false: fiel takes the times for measured ones, which others may have disturbed
  bool sleeps = false;  // build and measure take the time that they report
  std::filesystem::path state_folder;
  bool noise_by_process = false;  // each process draws its own; needs the state folder
};

Result<Script> parse_script(const Json& json);
Result<Script> read_script(const std::filesystem::path& path);

bool matches(const Settings& when, const Settings& settings);

}  // namespace fiel::fake
