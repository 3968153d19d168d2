#include "worker/engine_openvino.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <openvino/openvino.hpp>
#include <optional>
#include <utility>

#include "base/files.h"
#include "embedded/openvino_knobs.h"
#include "worker/engine_openvino_model.h"
#include "worker/engine_openvino_readback.h"
#include "worker/guard.h"
#include "worker/knob_catalogue.h"
#include "worker/machine_facts.h"

namespace fiel {
namespace {

constexpr const char* kBlob = "compiled.blob";
constexpr const char* kModel = "model.xml";
constexpr const char* kNote = "load.json";

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// "2026.4.1-22982-e213a147257-releases/2026/4" -> "2026.4.1"
std::string engine_version() {
  const std::string build = ov::get_openvino_version().buildNumber;
  return build.substr(0, build.find('-'));
}

// What OpenVINO throws tells a setting that it does not take from a model that it cannot compile
// only by its words.
std::string reason_of(std::string_view words) {
  if (words.find("bad_alloc") != std::string_view::npos) return "out_of_memory";
  for (const std::string_view sign :
       {"Unsupported property", "Wrong value", "NotFound", "NotImplemented", "not implemented"}) {
    if (words.find(sign) != std::string_view::npos) return "unsupported";
  }
  return "build_error";
}

struct Slot {
  ov::InferRequest request;
  std::vector<ov::Tensor> inputs;  // the request's own
};

class OpenVinoEngine : public Engine {
 public:
  EngineResult<Json> describe() override;
  EngineResult<BuildReport> build(const BuildRequest& request) override;
  EngineResult<LoadReport> load(const LoadRequest& request) override;

  EngineResult<> prepare(int slot, const std::vector<TensorView>& inputs) override;
  EngineResult<> run(int slot) override {
    slots_[static_cast<std::size_t>(slot)].request.infer();
    return {};
  }
  EngineResult<> start(int slot) override {
    slots_[static_cast<std::size_t>(slot)].request.start_async();
    return {};
  }
  EngineResult<> wait(int slot) override {
    slots_[static_cast<std::size_t>(slot)].request.wait();
    return {};
  }
  EngineResult<std::vector<Tensor>> outputs(int slot) override;
  EngineResult<std::vector<NodeTime>> profile() override { return times_of_nodes(compiled_); }

 private:
  EngineResult<> open(const std::string& device);
  EngineResult<std::shared_ptr<ov::Model>> read_model(const std::filesystem::path& path);
  ov::AnyMap properties(const Settings& settings) const;
  EngineResult<ov::CompiledModel> import(const LoadRequest& request, const std::string& file);

  std::optional<ov::Core> core_;
  std::vector<CatalogueKnob> catalogue_;
  ov::CompiledModel compiled_;
  std::vector<EnginePort> outputs_;
  std::vector<Slot> slots_;
};

// Made at the first request and not at start, so that what it throws has somebody to be told.
EngineResult<> OpenVinoEngine::open(const std::string& device) {
  if (!core_) {
    auto catalogue = parse_catalogue(embedded::openvino_knobs);
    if (!catalogue) return engine_fail("internal", catalogue.error().message);
    catalogue_ = *std::move(catalogue);
    core_.emplace();
  }
  if (device != "CPU") {
    return engine_fail("unsupported",
                       fmt::format("device \"{}\": this worker knows OpenVINO's CPU only", device));
  }
  return {};
}

EngineResult<Json> OpenVinoEngine::describe() {
  FIEL_TRY_ENGINE(open("CPU"));
  MachineFacts machine = read_machine_facts();
  for (const std::string& capability : core_->get_property("CPU", ov::device::capabilities)) {
    machine.facts.insert("capability:" + capability);
  }
  std::map<std::string, std::string> defaults;
  for (const ov::PropertyName& name : core_->get_property("CPU", ov::supported_properties)) {
    if (name.is_mutable()) defaults[name] = core_->get_property("CPU", name).as<std::string>();
  }
  Json json = {
      {"engine", "openvino"},
      {"version", engine_version()},
      {"devices",
       {{{"name", "CPU"}, {"description", core_->get_property("CPU", ov::device::full_name)}}}},
      {"cpu_features", machine.cpu_features},
      {"capabilities", {"static_shape", "offline", "state", "profile"}},
      {"float32_settings", {{"INFERENCE_PRECISION_HINT", "f32"}}}};
  add_to(json, offer_knobs(catalogue_, machine, defaults));
  return json;
}

EngineResult<std::shared_ptr<ov::Model>> OpenVinoEngine::read_model(
    const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return engine_fail("bad_request", fmt::format("\"model\": {} is no file", path.string()));
  }
  return guarded("unsupported", [&]() -> EngineResult<std::shared_ptr<ov::Model>> {
    return core_->read_model(path.string());
  });
}

ov::AnyMap OpenVinoEngine::properties(const Settings& settings) const {
  ov::AnyMap properties;
  for (const auto& [name, value] : settings) {
    const CatalogueKnob* entry = find_knob(catalogue_, name);
    const bool ours = entry != nullptr && entry->knob.kind != KnobKind::kProperty;
    if (ours || (entry != nullptr && value == entry->unset)) continue;
    properties[name] = value;
  }
  return properties;
}

// The compiled form where the device can export one: loading it is quick and builds the very same
// graph.
EngineResult<> write_artifact(const std::filesystem::path& folder,
                              const std::shared_ptr<ov::Model>& model, ov::CompiledModel& compiled,
                              Json note) {
  std::ofstream blob(folder / kBlob, std::ios::binary);
  note["file"] = kBlob;
  try {
    compiled.export_model(blob);
  } catch (const ov::Exception&) {
    std::filesystem::remove(folder / kBlob);
    ov::save_model(model, (folder / kModel).string(), false);
    note["file"] = kModel;
  }
  blob.close();
  std::ofstream file(folder / kNote);
  file << note.dump(2) << "\n";
  file.close();
  if (!blob || !file)
    return engine_fail("internal", fmt::format("cannot write all of {}", folder.string()));
  return {};
}

template <class Report>
void take(Report& report, ReadBack back) {
  report.effective = std::move(back.effective);
  report.precisions = std::move(back.precisions);
  report.placement = std::move(back.placement);
  report.graph_digest = std::move(back.graph_digest);
}

EngineResult<BuildReport> OpenVinoEngine::build(const BuildRequest& request) {
  FIEL_TRY_ENGINE(open(request.device));
  const Stopwatch watch;
  const std::shared_ptr<ov::Model> model = FIEL_TRY_ENGINE(read_model(request.model));
  const std::vector<std::string> inputs = FIEL_TRY_ENGINE(port_names(model->inputs()));
  const std::vector<std::string> outputs = FIEL_TRY_ENGINE(port_names(model->outputs()));
  FIEL_TRY_ENGINE(apply_shape(*model, inputs, request));
  try {
    ov::CompiledModel compiled =
        core_->compile_model(model, request.device, properties(request.settings));
    FIEL_TRY_ENGINE(describe_ports(compiled.inputs(), inputs));
    FIEL_TRY_ENGINE(describe_ports(compiled.outputs(), outputs));
    FIEL_TRY_ENGINE(write_artifact(request.artifact_dir, model, compiled,
                                   {{"engine", "openvino"},
                                    {"version", engine_version()},
                                    {"device", request.device},
                                    {"settings", request.settings},
                                    {"inputs", inputs},
                                    {"outputs", outputs}}));
    BuildReport report;
    report.build_seconds = watch.seconds();
    take(report, read_back(compiled, catalogue_));
    report.ignored = ignored_settings(request.settings, report.effective, catalogue_);
    return report;
  } catch (const ov::Exception& error) {
    return engine_fail(reason_of(error.what()), error.what());
  }
}

EngineResult<ov::CompiledModel> OpenVinoEngine::import(const LoadRequest& request,
                                                       const std::string& file) {
  const std::filesystem::path path = request.artifact_dir / file;
  ov::AnyMap settings = properties(request.settings);
  if (request.profile) settings[ov::enable_profiling.name()] = true;
  try {
    if (file == kModel) return core_->compile_model(path.string(), request.device, settings);
    std::ifstream blob(path, std::ios::binary);
    if (!blob) return engine_fail("bad_request", fmt::format("cannot read {}", path.string()));
    return core_->import_model(blob, request.device, settings);
  } catch (const ov::Exception& error) {
    return engine_fail(reason_of(error.what()), error.what());
  }
}

EngineResult<LoadReport> OpenVinoEngine::load(const LoadRequest& request) {
  FIEL_TRY_ENGINE(open(request.device));
  const Stopwatch watch;
  const std::string text = FIEL_TRY_REQUEST(read_text(request.artifact_dir / kNote));
  const Json note = FIEL_TRY_REQUEST(parse_json(text));
  const std::string file = FIEL_TRY_REQUEST(get_string(note, "file"));
  const std::vector<std::string> inputs = FIEL_TRY_REQUEST(get_strings(note, "inputs"));
  const std::vector<std::string> outputs = FIEL_TRY_REQUEST(get_strings(note, "outputs"));
  slots_.clear();
  compiled_ = FIEL_TRY_ENGINE(import(request, file));
  LoadReport report;
  report.inputs = FIEL_TRY_ENGINE(describe_ports(compiled_.inputs(), inputs));
  report.outputs = FIEL_TRY_ENGINE(describe_ports(compiled_.outputs(), outputs));
  if (request.scenario != "single_stream") {
    report.parallel_requests = static_cast<int>(
        std::max(1U, compiled_.get_property(ov::optimal_number_of_infer_requests)));
  }
  for (int i = 0; i < report.parallel_requests; ++i) {
    Slot& slot =
        slots_.emplace_back(Slot{.request = compiled_.create_infer_request(), .inputs = {}});
    for (std::size_t input = 0; input < inputs.size(); ++input) {
      slot.inputs.push_back(slot.request.get_input_tensor(input));
    }
  }
  report.load_seconds = watch.seconds();
  take(report, read_back(compiled_, catalogue_));
  if (file == kModel)
    report.effective["artifact"] = "model, compiled at load: this device exports nothing";
  outputs_ = report.outputs;
  return report;
}

EngineResult<> OpenVinoEngine::prepare(int slot, const std::vector<TensorView>& inputs) {
  std::vector<ov::Tensor>& tensors = slots_[static_cast<std::size_t>(slot)].inputs;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorView& view = inputs[i];
    const ov::Shape& shape = tensors[i].get_shape();
    if (!std::ranges::equal(shape, view.shape,
                            [](std::size_t a, std::int64_t b) { return std::cmp_equal(a, b); })) {
      tensors[i].set_shape(ov::Shape(view.shape.begin(), view.shape.end()));
    }
    if (tensors[i].get_byte_size() != view.bytes.size()) {
      return engine_fail("internal", fmt::format("input {} has {} bytes, OpenVINO's tensor {}", i,
                                                 view.bytes.size(), tensors[i].get_byte_size()));
    }
    if (!view.bytes.empty()) std::memcpy(tensors[i].data(), view.bytes.data(), view.bytes.size());
  }
  return {};
}

EngineResult<std::vector<Tensor>> OpenVinoEngine::outputs(int slot) {
  ov::InferRequest& request = slots_[static_cast<std::size_t>(slot)].request;
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const ov::Tensor from = request.get_output_tensor(i);
    Tensor tensor{.dtype = outputs_[i].dtype, .shape = {}, .bytes = {}};
    for (const std::size_t size : from.get_shape())
      tensor.shape.push_back(static_cast<std::int64_t>(size));
    tensor.bytes.resize(from.get_byte_size());
    if (!tensor.bytes.empty()) std::memcpy(tensor.bytes.data(), from.data(), tensor.bytes.size());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace

std::unique_ptr<Engine> make_openvino_engine() { return std::make_unique<OpenVinoEngine>(); }

}  // namespace fiel
