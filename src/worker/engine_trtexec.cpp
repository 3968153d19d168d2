#include "worker/engine_trtexec.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/digest.h"
#include "base/files.h"
#include "embedded/trtexec_knobs.h"
#include "route/trtexec_route.h"
#include "worker/engine_trtexec_arguments.h"
#include "worker/engine_trtexec_files.h"
#include "worker/engine_trtexec_program.h"
#include "worker/engine_trtexec_timing.h"
#include "worker/engine_trtexec_words.h"
#include "worker/guard.h"
#include "worker/machine_facts.h"
#include "worker/self_timed.h"

namespace fiel {
namespace {

using namespace trtexec;

constexpr const char* kPlan = "engine.plan";
constexpr const char* kNote = "load.json";
constexpr int kOldestMajor = 10;  // of TensorRT: before, trtexec had other words for what is read here

class TrtexecEngine : public Engine, public SelfTimed {
 public:
  explicit TrtexecEngine(TrtexecOptions options) : options_(std::move(options)) {}

  EngineResult<Json> describe() override;
  EngineResult<BuildReport> build(const BuildRequest& request) override;
  EngineResult<LoadReport> load(const LoadRequest& request) override;

  EngineResult<> prepare(int slot, const std::vector<TensorView>& inputs) override;
  EngineResult<> run(int slot) override;
  EngineResult<> start(int) override { return engine_fail("internal", "trtexec times itself"); }
  EngineResult<> wait(int) override { return engine_fail("internal", "trtexec times itself"); }
  EngineResult<std::vector<Tensor>> outputs(int slot) override;

  SelfTimed* self_timed() override { return this; }
  EngineResult<SelfTimedBlock> time_block(const Feed& feed, const std::string& scenario, const LoopLimits& limits) override;

 private:
  EngineResult<> open();
  EngineResult<RouteKnobs> route_knobs() const;
  Call call(std::vector<std::string> arguments) const;
  EngineResult<std::vector<std::string>> run_arguments(const std::vector<Shape>& shapes) const;
  EngineResult<Ran> make_engine(const BuildRequest& request, const OnnxModel& model, const SettingArguments& arguments);
  EngineResult<Json> note_of(const BuildRequest& request, const OnnxModel& model, const SettingArguments& arguments) const;

  TrtexecOptions options_;
  std::filesystem::path program_;
  Version version_;
  std::set<std::string> offered_;  // trtexec's options
  std::vector<CatalogueKnob> catalogue_;
  std::optional<TempFolder> scratch_;
  // What is loaded.
  std::filesystem::path plan_;
  int device_ = 0;
  std::vector<std::string> settings_;  // as arguments
  std::vector<EnginePort> inputs_, outputs_;
  std::set<std::string> profiled_;  // inputs whose shape each run must be told
  std::vector<Shape> prepared_;
  std::string printed_;  // by the last inference
};

// At the first request and not at start, so that what goes wrong has somebody to be told.
EngineResult<> TrtexecEngine::open() {
  if (!program_.empty()) return {};
  auto catalogue = parse_catalogue(embedded::trtexec_knobs);
  if (!catalogue) return engine_fail("internal", catalogue.error().message);
  catalogue_ = *std::move(catalogue);
  scratch_.emplace(FIEL_TRY_REQUEST(TempFolder::create(std::filesystem::current_path(), "trtexec-")));
  const std::filesystem::path program = FIEL_TRY_ENGINE(find_program(options_.program));
  const Ran help = FIEL_TRY_ENGINE(run_well(program, call({"--help"})));
  const auto version = version_in(help.text);
  if (!version) return engine_fail("unsupported", fmt::format("{} does not say which TensorRT it is of", program.string()));
  if (version->major < kOldestMajor) {
    return engine_fail("unsupported", fmt::format("{} is of TensorRT {}; this worker knows {}.0 and newer", program.string(),
                                                  dotted(*version), kOldestMajor));
  }
  version_ = *version;
  offered_ = options_in(help.text);
  program_ = program;
  return {};
}

Call TrtexecEngine::call(std::vector<std::string> arguments) const {
  return {.arguments = std::move(arguments), .folder = scratch_->path(), .log = scratch_->path() / "trtexec.log"};
}

// A TensorRT that knows the option but has no routes fails at it: then it has none, and says why.
EngineResult<RouteKnobs> TrtexecEngine::route_knobs() const {
  if (!offered_.contains("helpBuildRoute")) return RouteKnobs{};
  const Ran ran = FIEL_TRY_ENGINE(trtexec::run(program_, call({"--helpBuildRoute"})));
  const auto none = [](std::string why) {
    RouteKnobs knobs;
    knobs.left_out.push_back({.name = fmt::format("{}*", kTrtexecRoutePrefix), .why = std::move(why)});
    return knobs;
  };
  if (!ran.exit.is_success()) return none(error_of(ran.exit, ran.text).message);
  auto knobs = read_route_knobs(ran.text);
  return knobs ? *std::move(knobs) : none(knobs.error().message);
}

EngineResult<Json> TrtexecEngine::describe() {
  FIEL_TRY_ENGINE(open());
  // There is no option that only asks for devices; one that fails for want of an engine names them first.
  const Ran asked = FIEL_TRY_ENGINE(trtexec::run(program_, call({"--loadEngine=" + (scratch_->path() / "none").string()})));
  const auto device = device_in(asked.text);
  if (!device) return std::unexpected(error_of(asked.exit, asked.text));
  MachineFacts machine = read_machine_facts();
  for (const std::string& option : offered_) machine.facts.insert("option:" + option);
  machine.facts.insert(version_.major >= 11 ? "tensorrt>=11" : "tensorrt<11");
  std::map<std::string, std::string> defaults;  // it can't be asked, so the catalogue says what it knows
  for (const CatalogueKnob& entry : catalogue_) defaults[entry.knob.name] = entry.knob.default_value;
  KnobOffer offer = offer_knobs(catalogue_, machine, defaults);
  RouteKnobs routes = FIEL_TRY_ENGINE(route_knobs());
  std::ranges::move(routes.knobs, std::back_inserter(offer.knobs));
  for (auto& [name, why] : routes.left_out) offer.left_out.push_back({.name = std::move(name), .why = std::move(why)});
  Json json = {{"engine", "trtexec"},
               {"version", dotted(version_)},
               {"devices", {{{"name", "GPU"}, {"description", fmt::format("{}, compute capability {}", device->name, device->capability)}}}},
               {"cpu_features", machine.cpu_features},
               {"capabilities", {"offline"}},
               {"float32_settings", {{"noTF32", "1"}}}};
  if (options_.times == Times::kComputed) json["capabilities"].push_back("computed_time");
  if (!routes.tuner_version.empty()) json["tuner_version"] = routes.tuner_version;
  add_to(json, offer);
  return json;
}

EngineResult<EnginePort> port_of(const ModelPort& port) {
  if (!port.dtype || !port.dims) {
    return engine_fail("unsupported", fmt::format("\"{}\" is {}, which fiel carries to no TensorRT engine", port.name, port.type_name));
  }
  EnginePort made{.name = port.name, .dtype = *port.dtype, .shape = {}};
  for (const Dimension& dimension : *port.dims) made.shape.push_back(dimension.size);
  return made;
}

Json to_json(const EnginePort& port) {
  return {{"name", port.name}, {"dtype", fiel::to_string(port.dtype)}, {"shape", port.shape}};
}

constexpr const char* kLayers = "layers.json";

EngineResult<Ran> TrtexecEngine::make_engine(const BuildRequest& request, const OnnxModel& model,
                                             const SettingArguments& arguments) {
  const Profile profile = FIEL_TRY_ENGINE(profile_of(model, request));
  std::vector<std::string> words = {"--onnx=" + request.model.string(),
                                    "--saveEngine=" + (request.artifact_dir / kPlan).string(),
                                    "--skipInference",
                                    "--profilingVerbosity=detailed",
                                    "--exportLayerInfo=" + (scratch_->path() / kLayers).string(),
                                    fmt::format("--device={}", FIEL_TRY_ENGINE(device_index(request.device)))};
  if (!options_.timing_cache.empty()) words.push_back("--timingCacheFile=" + options_.timing_cache.string());
  words.insert(words.end(), profile.arguments.begin(), profile.arguments.end());
  words.insert(words.end(), arguments.build.begin(), arguments.build.end());
  return run_well(program_, call(std::move(words)));
}

// What lies beside the engine: all that a later process must know of it, and nothing that differs between two builds of one.
EngineResult<Json> TrtexecEngine::note_of(const BuildRequest& request, const OnnxModel& model,
                                          const SettingArguments& arguments) const {
  const Profile profile = FIEL_TRY_ENGINE(profile_of(model, request));
  const auto digest = sha256_file(request.artifact_dir / kPlan);
  if (!digest) return engine_fail("build_error", fmt::format("trtexec ended well but left no engine: {}", digest.error().message));
  Json note = {{"engine", "trtexec"},          {"version", dotted(version_)}, {"device", request.device},
               {"settings", request.settings}, {"file", kPlan},               {"build_route", arguments.build_route},
               {"graph_digest", *digest},      {"inputs", Json::array()},     {"outputs", Json::array()},
               {"precisions", Json::object()}};
  for (const ModelPort& input : model.inputs) {
    const EnginePort port = FIEL_TRY_ENGINE(port_of(input));
    Json json = to_json(port);
    json["profiled"] = std::ranges::any_of(port.shape, [](std::int64_t size) { return size < 0; });
    json["shape"] = profile.port_shapes.at(port.name);
    note["inputs"].push_back(std::move(json));
  }
  for (const ModelPort& output : model.outputs) note["outputs"].push_back(to_json(FIEL_TRY_ENGINE(port_of(output))));
  if (const auto text = read_text(scratch_->path() / kLayers)) {
    if (const auto json = parse_json(*text)) note["precisions"] = precisions_in(*json);
  }
  // What the build was told shows in the engine's bytes or nowhere: two routes that gave the same bytes are one.
  const RouteKnobs routes = FIEL_TRY_ENGINE(route_knobs());
  Json& effective = note["effective"] = Json::object();
  for (const CatalogueKnob& entry : catalogue_) {
    if (entry.readback == "graph") effective[entry.knob.name] = "as the engine is";
  }
  for (const Knob& knob : routes.knobs) effective[knob.name] = "as the engine is";
  return note;
}

EngineResult<BuildReport> TrtexecEngine::build(const BuildRequest& request) {
  FIEL_TRY_ENGINE(open());
  const auto model = read_onnx_model(request.model);
  if (!model) return engine_fail("unsupported", model.error().message);
  const SettingArguments arguments = FIEL_TRY_ENGINE(arguments_of(request.settings, catalogue_));
  const Ran ran = FIEL_TRY_ENGINE(make_engine(request, *model, arguments));
  const Json note = FIEL_TRY_ENGINE(note_of(request, *model, arguments));
  FIEL_TRY_REQUEST(write_atomic(request.artifact_dir / kNote, note.dump(2) + "\n"));
  if (const auto memory = device_memory_bytes_in(ran.text)) {
    fmt::print(stderr, "trtexec: the build held at most {} bytes of device memory by its own account\n", *memory);
  }
  return BuildReport{.build_seconds = build_seconds_in(ran.text).value_or(ran.seconds),
                     .effective = note["effective"].get<Settings>(),
                     .precisions = note["precisions"].get<std::map<std::string, int>>(),
                     .placement = {},
                     .graph_digest = note["graph_digest"].get<std::string>(),
                     .ignored = {}};
}

EngineResult<EnginePort> port_in(const Json& json) {
  EnginePort port{.name = FIEL_TRY_REQUEST(get_string(json, "name")), .dtype = DType::kFloat32, .shape = json.value("shape", Shape())};
  const auto dtype = parse_dtype(FIEL_TRY_REQUEST(get_string(json, "dtype")));
  if (!dtype) return engine_fail("bad_request", fmt::format("{}: unknown dtype of \"{}\"", kNote, port.name));
  port.dtype = *dtype;
  return port;
}

// Starts nothing: each process that runs the engine loads it anew. The engine must be the one that was built.
EngineResult<LoadReport> TrtexecEngine::load(const LoadRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  FIEL_TRY_ENGINE(open());
  if (request.scenario == "server") {
    return engine_fail("unsupported", "trtexec makes no requests that come at given times: no scenario server");
  }
  const std::string text = FIEL_TRY_REQUEST(read_text(request.artifact_dir / kNote));
  const Json note = FIEL_TRY_REQUEST(parse_json(text));
  plan_ = request.artifact_dir / kPlan;
  LoadReport report;
  report.graph_digest = FIEL_TRY_REQUEST(get_string(note, "graph_digest"));
  if (FIEL_TRY_REQUEST(sha256_file(plan_)) != report.graph_digest) {
    return engine_fail("bad_request", fmt::format("{} is not the engine that {} tells of", plan_.string(), kNote));
  }
  const SettingArguments arguments = FIEL_TRY_ENGINE(arguments_of(request.settings, catalogue_));
  if (arguments.build_route != note.value("build_route", "")) {
    return engine_fail("bad_request", "the settings are not those that the engine was built with");
  }
  settings_ = arguments.run;
  device_ = FIEL_TRY_ENGINE(device_index(request.device));
  profiled_.clear();
  for (const Json& json : note.at("inputs")) {
    report.inputs.push_back(FIEL_TRY_ENGINE(port_in(json)));
    if (json.value("profiled", false)) profiled_.insert(report.inputs.back().name);
  }
  for (const Json& json : note.at("outputs")) report.outputs.push_back(FIEL_TRY_ENGINE(port_in(json)));
  report.effective = note.value("effective", Settings());
  report.precisions = note.value("precisions", std::map<std::string, int>());
  inputs_ = report.inputs;
  outputs_ = report.outputs;
  report.load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

std::string input_file(std::size_t index) { return fmt::format("in.{}.raw", index); }

EngineResult<> TrtexecEngine::prepare(int, const std::vector<TensorView>& inputs) {
  prepared_.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    OverWriter file = FIEL_TRY_REQUEST(OverWriter::open(scratch_->path() / input_file(i)));
    FIEL_TRY_REQUEST(file.write(inputs[i].bytes));
    FIEL_TRY_REQUEST(file.finish());
    prepared_.push_back(inputs[i].shape);
  }
  return {};
}

// Of a process that runs the engine on what prepare() wrote; how often is for the caller to add.
EngineResult<std::vector<std::string>> TrtexecEngine::run_arguments(const std::vector<Shape>& shapes) const {
  std::string files, told;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    files += (files.empty() ? "" : ",") + FIEL_TRY_ENGINE(named_word(inputs_[i].name, input_file(i)));
    if (!profiled_.contains(inputs_[i].name)) continue;
    told += (told.empty() ? "" : ",") + FIEL_TRY_ENGINE(named_word(inputs_[i].name, shape_word(shapes[i])));
  }
  std::vector<std::string> words = {"--loadEngine=" + plan_.string(), fmt::format("--device={}", device_),
                                    "--warmUp=0", "--dumpRawBindingsToFile"};
  if (!files.empty()) words.push_back("--loadInputs=" + files);
  if (!told.empty()) words.push_back("--shapes=" + told);
  // Latencies are from host memory to host memory; from TensorRT 11 on trtexec leaves the transfers out if not told.
  if (offered_.contains("includeDataTransfers")) words.emplace_back("--includeDataTransfers");
  words.insert(words.end(), settings_.begin(), settings_.end());
  return words;
}

EngineResult<> TrtexecEngine::run(int) {
  std::vector<std::string> words = FIEL_TRY_ENGINE(run_arguments(prepared_));
  words.insert(words.end(), {"--iterations=1", "--duration=0"});
  printed_ = FIEL_TRY_ENGINE(run_well(program_, call(std::move(words)))).text;
  return {};
}

EngineResult<std::vector<Tensor>> TrtexecEngine::outputs(int) { return read_outputs(printed_, scratch_->path(), outputs_); }

EngineResult<SelfTimedBlock> TrtexecEngine::time_block(const Feed& feed, const std::string& scenario, const LoopLimits& limits) {
  if (feed.recurrent()) return engine_fail("unsupported", "trtexec carries no state from one inference to the next");
  const bool offline = scenario == "offline";
  BlockSum sum(limits, offline);
  std::int64_t memory_bytes = 0;
  for (const SameShape& group : same_shapes(feed)) {
    FIEL_TRY_ENGINE(prepare(0, feed.inputs(group.item, 0)));
    std::vector<std::string> words = FIEL_TRY_ENGINE(run_arguments(prepared_));
    const std::filesystem::path times = scratch_->path() / "times.json";
    for (std::string& word : limit_arguments(limits, group.share)) words.push_back(std::move(word));
    words.push_back("--exportTimes=" + times.string());
    if (!offline) words.emplace_back("--exposeDMA");  // one query after another, and not the next one's input meanwhile
    printed_ = FIEL_TRY_ENGINE(run_well(program_, call(std::move(words)))).text;
    memory_bytes = std::max(memory_bytes, device_memory_bytes_in(printed_).value_or(0));
    const std::vector<Query> trace = FIEL_TRY_ENGINE(read_times(times));
    FIEL_TRY_ENGINE(sum.add(trace, feed.sample_count(group.item)));
    sum.last(group.item, FIEL_TRY_ENGINE(outputs(0)));
  }
  SelfTimedBlock block = sum.take();
  if (memory_bytes > 0) block.told["device_memory_bytes"] = static_cast<double>(memory_bytes);
  return block;
}

}  // namespace

std::unique_ptr<Engine> make_trtexec_engine(TrtexecOptions options) {
  return std::make_unique<TrtexecEngine>(std::move(options));
}

}  // namespace fiel
