#include "worker/engine_onnxruntime.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/files.h"
#include "embedded/onnxruntime_knobs.h"
#include "worker/engine_onnxruntime_graph.h"
#include "worker/engine_onnxruntime_library.h"
#include "worker/engine_onnxruntime_profile.h"
#include "worker/engine_onnxruntime_session.h"
#include "worker/guard.h"
#include "worker/knob_catalogue.h"
#include "worker/machine_facts.h"
#include "worker/wanted_shapes.h"

namespace fiel {
namespace {

constexpr const char* kOptimized = "optimized.onnx";
constexpr const char* kModel = "model.onnx";
constexpr const char* kWeights = "weights.bin";  // beside kOptimized, where protobuf's 2 GiB could be too little
constexpr const char* kNote = "load.json";
// At 0 they keep float32 strict. Its own default does so already; but a default is not a promise.
constexpr std::string_view kFloat32[] = {"optimization.enable_gelu_approximation",
                                         "mlas.enable_gemm_fastmath_arm64_bfloat16"};
constexpr std::int64_t kLargeBytes = std::int64_t{1} << 30;

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// One tensor's worth of memory that is ours, aligned as vector instructions like it.
struct Buffer {
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<std::byte, Free> bytes;
  std::size_t capacity = 0;

  std::byte* of(std::size_t size) {
    if (size > capacity || !bytes) {
      capacity = (std::max<std::size_t>(size, 1) + 63) / 64 * 64;
      bytes.reset(static_cast<std::byte*>(std::aligned_alloc(64, capacity)));
      if (!bytes) throw std::bad_alloc();
    }
    return bytes.get();
  }
};

struct Slot {
  std::vector<Buffer> buffers;
  std::vector<Shape> shapes;
  std::vector<Ort::Value> inputs;
  std::vector<Ort::Value> outputs;
};

class OnnxRuntimeEngine : public Engine {
 public:
  explicit OnnxRuntimeEngine(std::filesystem::path named) : named_(std::move(named)) {}

  EngineResult<Json> describe() override;
  EngineResult<BuildReport> build(const BuildRequest& request) override;
  EngineResult<LoadReport> load(const LoadRequest& request) override;

  EngineResult<> prepare(int slot, const std::vector<TensorView>& inputs) override;
  EngineResult<> run(int slot) override {
    Slot& s = slots_[static_cast<std::size_t>(slot)];
    try {
      session_->Run(*run_options_, input_names_.data(), s.inputs.data(), s.inputs.size(), output_names_.data(),
                    s.outputs.data(), s.outputs.size());
    } catch (const Ort::Exception& error) {
      return engine_fail(error_of(error).reason == "out_of_memory" ? "out_of_memory" : "unsupported", error.what());
    }
    return {};
  }
  // A session takes calls from several threads at once, and the offline loop has one for each slot.
  EngineResult<> start(int slot) override { return run(slot); }
  EngineResult<> wait(int) override { return {}; }
  EngineResult<std::vector<Tensor>> outputs(int slot) override;
  EngineResult<std::vector<NodeTime>> profile() override;

 private:
  EngineResult<> open(const std::string& device);
  EngineResult<> make_artifact(const BuildRequest& request, const SessionPlan& plan, Json note);
  EngineResult<> keep_model(const ModelSource& source, const std::filesystem::path& folder);
  EngineResult<LoadReport> open_artifact(const LoadRequest& request);
  void name_ports(const LoadReport& report);

  std::filesystem::path named_;
  OnnxRuntimeLibrary library_;
  std::vector<CatalogueKnob> catalogue_;
  SessionLog log_;
  // Optional, since ONNX Runtime's objects can't even be destroyed without its library.
  std::optional<Ort::Env> env_;
  std::optional<Ort::RunOptions> run_options_;
  std::optional<Ort::MemoryInfo> memory_;
  std::optional<Ort::Session> session_;
  std::vector<EnginePort> inputs_, outputs_;
  std::vector<const char*> input_names_, output_names_;
  std::vector<Slot> slots_;
};

// Loaded at the first request and not at start, so that what goes wrong has somebody to be told.
EngineResult<> OnnxRuntimeEngine::open(const std::string& device) {
  if (library_.api == nullptr) {
    auto catalogue = parse_catalogue(embedded::onnxruntime_knobs);
    if (!catalogue) return engine_fail("internal", catalogue.error().message);
    catalogue_ = *std::move(catalogue);
    library_ = FIEL_TRY_ENGINE(load_onnxruntime(named_));
    Ort::InitApi(library_.api);
    env_.emplace(ORT_LOGGING_LEVEL_WARNING, "fiel", take_log, &log_);
    run_options_.emplace();
    run_options_->SetRunLogSeverityLevel(ORT_LOGGING_LEVEL_WARNING);
    memory_ = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  }
  if (device != "CPU") {
    return engine_fail("unsupported",
                       fmt::format("device \"{}\": this worker knows ONNX Runtime on the CPU only", device));
  }
  return {};
}

EngineResult<Json> OnnxRuntimeEngine::describe() {
  FIEL_TRY_ENGINE(open("CPU"));
  MachineFacts machine = read_machine_facts();
  for (int minor = 21; minor <= library_.minor; ++minor) machine.facts.insert(fmt::format("onnxruntime>=1.{}", minor));
  for (const std::string& provider : Ort::GetAvailableProviders()) machine.facts.insert("provider:" + provider);
  std::map<std::string, std::string> defaults;  // it can't be asked, so the catalogue says what it knows
  for (const CatalogueKnob& entry : catalogue_) defaults[entry.knob.name] = entry.knob.default_value;
  const KnobOffer offer = offer_knobs(catalogue_, machine, defaults);
  Json json = {{"engine", "onnxruntime"},
               {"version", library_.version},
               {"devices", {{{"name", "CPU"}, {"description", library_.path.string()}}}},
               {"cpu_features", machine.cpu_features},
               {"capabilities", {"static_shape", "offline", "state", "profile"}},
               {"float32_settings", Json::object()}};
  for (const Knob& knob : offer.knobs) {
    if (std::ranges::find(kFloat32, knob.name) != std::end(kFloat32)) json["float32_settings"][knob.name] = "0";
  }
  add_to(json, offer);
  return json;
}

EngineResult<> write_note(const std::filesystem::path& folder, const Json& note) {
  std::ofstream file(folder / kNote);
  file << note.dump(2) << "\n";
  file.close();
  if (!file) return engine_fail("internal", fmt::format("cannot write all of {}", folder.string()));
  return {};
}

// What another provider makes of the graph can't be saved as ONNX, so that the model itself is what ships, to be optimised by
// whoever loads it.
EngineResult<> OnnxRuntimeEngine::keep_model(const ModelSource& source, const std::filesystem::path& folder) {
  if (source.has_external_data) {
    return engine_fail("unsupported", "a model with external data runs on ONNX Runtime's CPU provider only");
  }
  std::error_code code;
  if (!source.rewritten) {
    std::filesystem::copy_file(source.path, folder / kModel, code);
    if (code) return engine_fail("internal", fmt::format("cannot copy the model: {}", code.message()));
    return {};
  }
  std::ofstream file(folder / kModel, std::ios::binary);
  file << *source.rewritten;
  file.close();
  if (!file) return engine_fail("internal", fmt::format("cannot write all of {}", folder.string()));
  return {};
}

// The graph as ONNX Runtime optimised it, saved as ONNX: every later process loads that, with no optimising left to do, so that
// what was judged is what runs.
EngineResult<> OnnxRuntimeEngine::make_artifact(const BuildRequest& request, const SessionPlan& plan, Json note) {
  const ModelSource source = FIEL_TRY_ENGINE(read_source(request));
  const bool own_kernels = provider_of(plan.run) == "CPU";
  const std::filesystem::path file = request.artifact_dir / kOptimized;
  Ort::SessionOptions options;
  options.SetLogSeverityLevel(ORT_LOGGING_LEVEL_ERROR);  // it warns that the saved graph is for this CPU only, as it should be
  FIEL_TRY_ENGINE(apply(options, plan.graph));
  FIEL_TRY_ENGINE(apply(options, plan.run));
  if (own_kernels) options.SetOptimizedModelFilePath(file.c_str());
  if (source.has_external_data || source.bytes > kLargeBytes) {  // else it would refer to files beside the model
    options.AddConfigEntry("session.optimized_model_external_initializers_file_name", kWeights);
  }
  const std::string folder = source.path.parent_path().string();
  if (source.rewritten) {
    options.AddConfigEntry("session.model_external_initializers_file_folder_path", folder.c_str());
  }
  const Ort::Session session = source.rewritten
                                   ? Ort::Session(*env_, source.rewritten->data(), source.rewritten->size(), options)
                                   : Ort::Session(*env_, source.path.c_str(), options);
  for (const EnginePort& port : FIEL_TRY_ENGINE(input_ports(session))) note["inputs"].push_back(port.name);
  for (const EnginePort& port : FIEL_TRY_ENGINE(output_ports(session))) note["outputs"].push_back(port.name);
  note["options"] = plan.run;
  GraphFacts facts;
  if (own_kernels) {
    facts = FIEL_TRY_ENGINE(describe_graph(file));
    note["options"]["graph_optimization_level"] = "none";
  } else {
    FIEL_TRY_ENGINE(keep_model(source, request.artifact_dir));
    note["options"].update(plan.graph);
  }
  note["file"] = own_kernels ? kOptimized : kModel;
  note["graph_digest"] = facts.digest;
  note["precisions"] = facts.precisions;
  note["nodes"] = facts.node_count;
  return write_note(request.artifact_dir, note);
}

EngineResult<BuildReport> OnnxRuntimeEngine::build(const BuildRequest& request) {
  FIEL_TRY_ENGINE(open(request.device));
  const Stopwatch watch;
  const SessionPlan plan = FIEL_TRY_ENGINE(plan_session(request.settings, catalogue_));
  BuildReport report;
  try {
    FIEL_TRY_ENGINE(make_artifact(request, plan,
                                  {{"engine", "onnxruntime"},
                                   {"version", library_.version},
                                   {"device", request.device},
                                   {"settings", request.settings}}));
    report.build_seconds = watch.seconds();
  } catch (const Ort::Exception& error) {
    return std::unexpected(error_of(error));
  }
  // What was built is seen by loading it, as every later process does.
  LoadReport loaded = FIEL_TRY_ENGINE(open_artifact({.artifact_dir = request.artifact_dir,
                                                     .device = request.device,
                                                     .settings = request.settings,
                                                     .shapes = request.shapes,
                                                     .scenario = "single_stream"}));
  session_.reset();
  report.effective = std::move(loaded.effective);
  report.precisions = std::move(loaded.precisions);
  report.placement = std::move(loaded.placement);
  report.graph_digest = std::move(loaded.graph_digest);
  report.ignored = ignored_settings(request.settings, report.effective, catalogue_);
  return report;
}

// ONNX Runtime does not say what its pools do; how many threads appeared can be counted. Where two pools run, whose thread is
// whose can't be seen, nor where a provider has threads of its own. Threads take their cores a moment later, so that part says what was asked for.
void read_threads(Settings& effective, const SessionPlan& plan, std::size_t started) {
  if (plan.run.contains("execution_mode") || provider_of(plan.run) != "CPU") return;
  effective["intra_op_num_threads"] = std::to_string(started + 1);
  const auto pinned = plan.run.find("session.intra_op_thread_affinities");
  effective["intra_op_thread_affinities"] = pinned != plan.run.end()                     ? "pinned"
                                            : plan.run.contains("intra_op_num_threads") ? "none"
                                                                                        : "engine";
  if (started > 0) return;
  for (const char* name : {"intra_op_thread_affinities", "session.intra_op.allow_spinning",
                           "session.intra_op.spin_duration_us", "session.force_spinning_stop",
                           "session.dynamic_block_base"}) {
    effective[name] = "no pool";
  }
}

EngineResult<LoadReport> OnnxRuntimeEngine::open_artifact(const LoadRequest& request) {
  const std::string text = FIEL_TRY_REQUEST(read_text(request.artifact_dir / kNote));
  const Json note = FIEL_TRY_REQUEST(parse_json(text));
  const std::filesystem::path file = request.artifact_dir / FIEL_TRY_REQUEST(get_string(note, "file"));
  const bool optimized = file.filename() == kOptimized;
  const SessionPlan plan = FIEL_TRY_ENGINE(plan_session(request.settings, catalogue_));
  slots_.clear();
  session_.reset();
  LoadReport report;
  try {
    const Stopwatch watch;
    Ort::SessionOptions options;
    if (optimized) {
      options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
    } else {
      FIEL_TRY_ENGINE(apply(options, plan.graph));
      options.SetLogSeverityLevel(ORT_LOGGING_LEVEL_VERBOSE);
    }
    log_.placement.clear();
    FIEL_TRY_ENGINE(apply(options, plan.run));
    if (request.profile) options.EnableProfiling("profile");  // in the working directory, which is the worker's own
    const std::set<std::string> before = own_threads();
    session_.emplace(*env_, file.c_str(), options);
    const std::set<std::string> after = own_threads();
    report.load_seconds = watch.seconds();
    report.inputs = FIEL_TRY_ENGINE(input_ports(*session_));
    report.outputs = FIEL_TRY_ENGINE(output_ports(*session_));
    const auto started = std::ranges::count_if(after, [&](const std::string& id) { return !before.contains(id); });
    read_threads(report.effective, plan, static_cast<std::size_t>(started));
  } catch (const Ort::Exception& error) {
    return std::unexpected(error_of(error));
  }
  report.parallel_requests = request.scenario == "single_stream" ? 1 : FIEL_TRY_ENGINE(requests_of(request.settings));
  report.graph_digest = FIEL_TRY_REQUEST(get_string(note, "graph_digest"));
  report.precisions = note.value("precisions", std::map<std::string, int>());
  report.placement = optimized ? std::map<std::string, int>{{"CPU", note.value("nodes", 0)}}
                               : placement_of(log_, provider_of(plan.run));
  for (const CatalogueKnob& entry : catalogue_) {
    if (optimized && entry.readback == "graph") report.effective[entry.knob.name] = "as the graph shows";
  }
  const bool dynamic = std::ranges::any_of(
      report.inputs, [](const EnginePort& port) { return std::ranges::any_of(port.shape, [](auto size) { return size < 0; }); });
  report.effective["shape"] = dynamic ? "dynamic" : "static";
  return report;
}

EngineResult<LoadReport> OnnxRuntimeEngine::load(const LoadRequest& request) {
  FIEL_TRY_ENGINE(open(request.device));
  LoadReport report = FIEL_TRY_ENGINE(open_artifact(request));
  name_ports(report);
  for (int i = 0; i < report.parallel_requests; ++i) {
    Slot& slot = slots_.emplace_back();
    slot.buffers.resize(inputs_.size());
    slot.shapes.resize(inputs_.size());
    for (std::size_t j = 0; j < inputs_.size(); ++j) slot.inputs.emplace_back(nullptr);
    for (std::size_t j = 0; j < outputs_.size(); ++j) slot.outputs.emplace_back(nullptr);
  }
  return report;
}

EngineResult<std::vector<NodeTime>> OnnxRuntimeEngine::profile() {
  Ort::AllocatorWithDefaultOptions allocator;
  const std::filesystem::path file = session_->EndProfilingAllocated(allocator).get();
  const std::string text = FIEL_TRY_REQUEST(read_text(file));
  return times_in_profile(text);
}

void OnnxRuntimeEngine::name_ports(const LoadReport& report) {
  inputs_ = report.inputs;
  outputs_ = report.outputs;
  input_names_.clear();
  output_names_.clear();
  for (const EnginePort& port : inputs_) input_names_.push_back(port.name.c_str());
  for (const EnginePort& port : outputs_) output_names_.push_back(port.name.c_str());
}

EngineResult<> OnnxRuntimeEngine::prepare(int slot, const std::vector<TensorView>& inputs) {
  Slot& s = slots_[static_cast<std::size_t>(slot)];
  for (Ort::Value& output : s.outputs) output = Ort::Value(nullptr);  // freed here and not in the timed part
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const TensorView& view = inputs[i];
    std::byte* const before = s.buffers[i].bytes.get();
    std::byte* const bytes = s.buffers[i].of(view.bytes.size());
    if (!view.bytes.empty()) std::memcpy(bytes, view.bytes.data(), view.bytes.size());
    if (s.inputs[i] && bytes == before && s.shapes[i] == view.shape) continue;
    s.shapes[i] = view.shape;
    s.inputs[i] = Ort::Value::CreateTensor(*memory_, bytes, view.bytes.size(), view.shape.data(), view.shape.size(),
                                           to_onnx(inputs_[i].dtype));
  }
  return {};
}

EngineResult<std::vector<Tensor>> OnnxRuntimeEngine::outputs(int slot) {
  std::vector<Tensor> tensors;
  const std::vector<Ort::Value>& values = slots_[static_cast<std::size_t>(slot)].outputs;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    Tensor tensor{.dtype = outputs_[i].dtype, .shape = values[i].GetTensorTypeAndShapeInfo().GetShape(), .bytes = {}};
    const auto count = element_count(tensor.shape);
    if (!count) return engine_fail("internal", fmt::format("output \"{}\" is too large", outputs_[i].name));
    tensor.bytes.resize(static_cast<std::size_t>(*count) * element_size(tensor.dtype));
    if (!tensor.bytes.empty()) std::memcpy(tensor.bytes.data(), values[i].GetTensorRawData(), tensor.bytes.size());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace

std::unique_ptr<Engine> make_onnxruntime_engine(std::filesystem::path library) {
  return std::make_unique<OnnxRuntimeEngine>(std::move(library));
}

}  // namespace fiel
