#include "decide/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/files.h"
#include "journal/record.h"
#include "variant/rewriter.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFloat32 = "float32";

bool is_convolution(const Region& region) { return region.op == "Conv"; }

// How a variant is made; `regions` are those that become 8 bit.
struct Recipe {
  std::string name;
  std::set<std::string> regions;
  std::string ranges = "min_max";
  int weight_bits = 8;
};

std::vector<Recipe> recipes(const std::vector<Region>& regions) {
  std::set<std::string> all, inner, convolutions, products;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    all.insert(regions[i].name);
    if (i > 0 && i + 1 < regions.size()) inner.insert(regions[i].name);
    (is_convolution(regions[i]) ? convolutions : products).insert(regions[i].name);
  }
  std::vector<Recipe> list = {{"int8", all}, {"int8_average", all, "average"}, {"int8_7bit", all, "min_max", 7}};
  if (!inner.empty()) list.push_back({"int8_inner", inner});
  if (!convolutions.empty() && !products.empty()) {
    list.push_back({"int8_conv", convolutions});
    list.push_back({"int8_matmul", products});
  }
  return list;
}

Failure failed(FailureKind kind, std::string message) {
  return {.kind = kind, .message = std::move(message), .phase = "variant", .log_tail = {}, .exit_status = {}, .signal = {}};
}

// All extremes that a process saw, by output of the observer.
using Extremes = std::map<std::string, std::vector<double>>;

// One process of the first engine, in float32, runs the observer over the calibration set.
Result<std::optional<Failure>> observe_extremes(Lab& lab, const fs::path& observer, Extremes& extremes) {
  const std::string& name = lab.contract.engines.front().name;
  const EngineHere& engine = lab.engines.at(name);
  const BuildRoute route{.engine = name, .settings = engine.hello.float32_settings};
  auto started = start_worker(lab, engine, route, "observe");
  if (auto* failure = std::get_if<Failure>(&started)) return std::optional(std::move(*failure));
  Live live{.id = 0, .worker = std::get<std::unique_ptr<Worker>>(std::move(started)), .loaded = {}, .batch = 1};
  auto folder = FIEL_TRY(TempFolder::create(lab.folder / "scratch", "observer-"));
  const auto settings = request_settings(lab, route);
  auto built = request_build(*live.worker,
                             {.model = observer, .device = lab.contract.device, .settings = settings, .shapes = lab.shapes,
                              .artifact_dir = folder.path()},
                             deadlines_for(lab.contract).build);
  if (auto* failure = std::get_if<Failure>(&built)) return std::optional(std::move(*failure));
  auto loaded = request_load(*live.worker,
                             {.artifact_dir = folder.path(), .device = lab.contract.device, .settings = settings,
                              .shapes = lab.shapes, .scenario = Scenario::kSingleStream, .state = {}},
                             deadlines_for(lab.contract).load);
  if (auto* failure = std::get_if<Failure>(&loaded)) return std::optional(std::move(*failure));
  std::vector<int> order(lab.calibration->samples.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  auto failure = FIEL_TRY(infer_set(lab, live, *lab.calibration, order, {}, [&](auto outputs, Last) -> Result<bool> {
    for (const SampleOutputs& sample : outputs) {
      for (const auto& [output, tensor] : sample.tensors) {
        if (tensor.dtype != DType::kFloat32 || tensor.bytes.size() != sizeof(float)) continue;
        float value = 0;
        std::memcpy(&value, tensor.bytes.data(), sizeof value);
        extremes[output].push_back(value);
      }
    }
    return true;
  }));
  if (!failure) say_bye(*live.worker);
  return failure;
}

double average(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// {"min_max": {activation: [low, high]}, "average": ...}, or {"failure": why}.
Result<Json> observe(Lab& lab, const Rewriter& rewriter) {
  return lab.recorder.once("observe", "observe", [&]() -> Result<Record> {
    const double started_at = lab.recorder.live_seconds();
    lab.progress.step(fmt::format("observing the ranges of {} nodes on {} calibration samples", rewriter.regions().size(),
                                  lab.calibration->samples.size()));
    const fs::path observer = lab.folder / "scratch" / "observer.onnx";
    FIEL_TRY(rewriter.write_observer(observer));
    Extremes extremes;
    Json body = {{"calibration", lab.calibration->digest}, {"n", lab.calibration->samples.size()}};
    const auto failure = FIEL_TRY(observe_extremes(lab, observer, extremes));
    if (failure) FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    if (failure) body["failure"] = failure_json(*failure);
    for (std::size_t i = 0; !failure && i < rewriter.regions().size(); ++i) {
      const auto& low = extremes[rewriter.observed_low(i)];
      const auto& high = extremes[rewriter.observed_high(i)];
      const std::string& activation = rewriter.regions()[i].activation;
      const bool finite = !low.empty() && low.size() == high.size() && std::ranges::all_of(low, [](double x) { return std::isfinite(x); }) &&
                          std::ranges::all_of(high, [](double x) { return std::isfinite(x); });
      if (!finite) continue;  // a region without a range stays in float
      body["min_max"][activation] = {std::ranges::min(low), std::ranges::max(high)};
      body["average"][activation] = {average(low), average(high)};
    }
    body["seconds"] = lab.recorder.live_seconds() - started_at;
    return Record{.body = std::move(body)};
  });
}

Ranges ranges_from(const Json& body, const std::string& method) {
  Ranges ranges;
  for (const auto& [activation, range] : object_or_empty(body, method).items()) {
    ranges[activation] = {range[0].get<double>(), range[1].get<double>()};
  }
  return ranges;
}

Result<Outcome<fs::path>> make_variant(Lab& lab, const Rewriter& rewriter, const Recipe& recipe, const Json& observed) {
  if (observed.contains("failure")) {
    return failed(FailureKind::kUnsupported, "the ranges of the model's activations can't be observed: " +
                                                 observed["failure"].value("message", ""));
  }
  const Ranges ranges = ranges_from(observed, recipe.ranges);
  Int8Choice choice{.regions = {}, .weight_bits = recipe.weight_bits};
  for (const Region& region : rewriter.regions()) {
    if (recipe.regions.contains(region.name) && ranges.contains(region.activation)) choice.regions.insert(region.name);
  }
  if (choice.regions.empty()) return failed(FailureKind::kUnsupported, "no node has an activation of a finite range");
  const fs::path file = lab.folder / "variants" / (recipe.name + ".onnx");
  FIEL_TRY(ensure_folder(file.parent_path()));
  FIEL_TRY(rewriter.write_int8(file, ranges, choice));
  const std::string digest = FIEL_TRY(sha256_file(file));
  const Json made = FIEL_TRY(lab.recorder.once("variant/" + recipe.name, "variant", [&]() -> Result<Record> {
    return Record{.body = {{"variant", recipe.name}, {"digest", digest}, {"regions", choice.regions},
                           {"left_out", rewriter.regions().size() - choice.regions.size()}}};
  }));
  if (made["digest"] != digest) {
    return fail(ErrorKind::kCorrupt, fmt::format("the variant {} does not come out as it did when this run began", recipe.name),
                "start a new run");
  }
  return file;
}

}  // namespace

VariantKnob variant_knob(const OnnxModel& model, const Contract& contract) {
  if (contract.calibration.empty() && contract.data.empty()) return {{}, "int8 needs [data] calibration"};
  if (!contract.state.empty()) return {{}, "models with state are not rewritten"};
  const auto rewriter = Rewriter::open(model.path);
  if (!rewriter) return {{}, rewriter.error().message};
  if (rewriter->regions().empty()) return {{}, "the model has no Conv, MatMul or Gemm with constant float32 weights"};
  Knob knob{.name = std::string(kVariantKnob), .kind = KnobKind::kVariant, .values = {std::string(kFloat32)},
            .default_value = std::string(kFloat32),
            .help = "The model as it is, or with its Conv, MatMul and Gemm nodes in 8 bits: all of them, all but the first and the "
                    "last (inner), those of one kind; ranges by extremes or by their average, weights of 8 or 7 bits.",
            .only_if = {}};
  for (const Recipe& recipe : recipes(rewriter->regions())) knob.values.push_back(recipe.name);
  return {std::move(knob), {}};
}

Result<Outcome<fs::path>> model_of(Lab& lab, const BuildRoute& route) {
  const auto setting = route.settings.find(std::string(kVariantKnob));
  if (setting == route.settings.end() || setting->second == kFloat32) return Outcome<fs::path>(lab.model.path);
  if (!lab.calibration) return Outcome<fs::path>(failed(FailureKind::kUnsupported, "there is no calibration set"));
  const fs::path file = lab.folder / "variants" / (setting->second + ".onnx");
  if (lab.made_variants.contains(setting->second)) return Outcome<fs::path>(file);
  const Rewriter rewriter = FIEL_TRY(Rewriter::open(lab.model.path));
  const Json observed = FIEL_TRY(observe(lab, rewriter));
  for (const Recipe& recipe : recipes(rewriter.regions())) {
    if (recipe.name != setting->second) continue;
    auto made = FIEL_TRY(make_variant(lab, rewriter, recipe, observed));
    if (std::holds_alternative<fs::path>(made)) lab.made_variants.insert(recipe.name);
    return made;
  }
  return Outcome<fs::path>(failed(FailureKind::kUnsupported, "there is no such variant"));
}

}  // namespace fiel
