#include "decide/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/files.h"
#include "base/rng.h"
#include "journal/record.h"
#include "stats/noise.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFloat32 = "float32";
constexpr std::size_t kSensitivitySamples = 12;
constexpr double kSensitivitySeconds = 25;  // at most, and at most this share of the wall time; what was not measured by
constexpr double kSensitivityShare = 0.05;  // then is taken to lose least

bool is_convolution(const Region& region) { return region.op == "Conv"; }

// How a variant is made; `regions` may become 8 bit, and of them the share that loses least does.
struct Recipe {
  std::string name;
  std::set<std::string> regions;
  std::string ranges = "min_max";
  double share = 1;
};

// Kernels of x86 CPUs without VNNI add two products of 8 bits in 16, which saturates; with weights of 7 bits it can't.
int weight_bits(const Lab& lab) {
  const auto& features = lab.engines.at(lab.contract.engines.front().name).hello.cpu_features;
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(features, [&](const std::string& one) { return one.find(name) != std::string::npos; });
  };
  return has("avx") && !has("vnni") && !has("amx_int8") ? 7 : 8;
}

std::vector<Recipe> recipes(const std::vector<Region>& regions) {
  std::set<std::string> all, convolutions, products;
  for (const Region& region : regions) {
    all.insert(region.name);
    (is_convolution(region) ? convolutions : products).insert(region.name);
  }
  std::vector<Recipe> list = {{"int8", all}, {"int8_75", all, "min_max", 0.75}, {"int8_50", all, "min_max", 0.5},
                              {"int8_average", all, "average"}};
  if (!convolutions.empty() && !products.empty()) {
    list.push_back({"int8_conv", convolutions});
    list.push_back({"int8_matmul", products});
  }
  return list;
}

fs::path variant_file(const Lab& lab, const std::string& name) { return lab.folder / "variants" / (name + ".onnx"); }

Failure failed(FailureKind kind, std::string message) {
  return {.kind = kind, .message = std::move(message), .phase = "variant", .log_tail = {}, .exit_status = {}, .signal = {}};
}

// One process of the first engine, in float32, that builds and runs one model of ours after another on calibration samples.
class Bench {
 public:
  explicit Bench(Lab& lab) : lab_(lab), name_(lab.contract.engines.front().name) {}

  /// Empty: it ran. Failure: of the process, which is dead then, or of the model.
  Result<std::optional<Failure>> run(const fs::path& model, std::span<const int> samples, const TakeChunk& take) {
    const EngineHere& engine = lab_.engines.at(name_);
    const BuildRoute route{.engine = name_, .settings = engine.hello.float32_settings};
    if (!live_) {
      auto started = start_worker(lab_, engine, route, "observe");
      if (auto* failure = std::get_if<Failure>(&started)) return std::optional(std::move(*failure));
      live_ = Live{.id = 0, .worker = std::get<std::unique_ptr<Worker>>(std::move(started)), .loaded = {}, .batch = 1};
    }
    auto folder = FIEL_TRY(TempFolder::create(lab_.folder / "scratch", "observer-"));
    const auto settings = request_settings(lab_, route);
    auto built = request_build(*live_->worker,
                               {.model = model, .device = lab_.contract.device, .settings = settings, .shapes = lab_.shapes,
                                .artifact_dir = folder.path()},
                               deadlines_for(lab_.contract).build);
    if (auto* failure = std::get_if<Failure>(&built)) return std::optional(std::move(*failure));
    auto loaded = request_load(*live_->worker,
                               {.artifact_dir = folder.path(), .device = lab_.contract.device, .settings = settings,
                                .shapes = lab_.shapes, .scenario = Scenario::kSingleStream, .state = {}},
                               deadlines_for(lab_.contract).load);
    if (auto* failure = std::get_if<Failure>(&loaded)) return std::optional(std::move(*failure));
    return infer_set(lab_, *live_, *lab_.calibration, samples, {}, take);
  }

  bool alive() const { return !live_ || live_->worker->alive(); }
  ~Bench() {
    if (live_) say_bye(*live_->worker);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

 private:
  Lab& lab_;
  std::string name_;
  std::optional<Live> live_ = {};
};

std::vector<int> first_samples(const Lab& lab, std::size_t at_most) {
  auto order = stratified_order(*lab.calibration, sub_seed(lab.seed, "calibration"));
  order.resize(std::min(order.size(), at_most));
  return order;
}

// All extremes that a process saw, by output of the observer.
using Extremes = std::map<std::string, std::vector<double>>;

Result<std::optional<Failure>> observe_extremes(Lab& lab, const fs::path& observer, Extremes& extremes) {
  Bench bench(lab);
  return bench.run(observer, first_samples(lab, lab.calibration->samples.size()), [&](auto outputs, Last) -> Result<bool> {
    for (const SampleOutputs& sample : outputs) {
      for (const auto& [output, tensor] : sample.tensors) {
        if (tensor.dtype != DType::kFloat32 || tensor.bytes.size() != sizeof(float)) continue;
        float value = 0;
        std::memcpy(&value, tensor.bytes.data(), sizeof value);
        extremes[output].push_back(value);
      }
    }
    return true;
  });
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
      body["average"][activation] = {stats::mean(low), stats::mean(high)};
      body["power"][activation] = stats::mean(extremes[rewriter.observed_power(i)]);
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

// Relative L2 error of the outputs with one region alone in 8 bits, averaged over some calibration samples.
Result<std::optional<double>> error_of_one(Lab& lab, Bench& bench, const Rewriter& rewriter, const std::string& region,
                                           const Ranges& ranges, std::span<const int> samples,
                                           const std::map<int, SampleOutputs>& expected) {
  const fs::path file = lab.folder / "scratch" / "one_region.onnx";
  FIEL_TRY(rewriter.write_int8(file, ranges, {.regions = {region}, .weight_bits = weight_bits(lab)}));
  double sum = 0;
  const auto failure = FIEL_TRY(bench.run(file, samples, [&](auto outputs, Last) -> Result<bool> {
    for (const SampleOutputs& sample : outputs) {
      const OutputViews now = views_of(sample);
      for (const auto& [output, tensor] : expected.at(sample.index).tensors) {
        const auto found = now.find(output);
        sum += found == now.end() ? 1 : compare_tensor(tensor.view(), found->second, nullptr).errors.l2;
      }
    }
    return true;
  }));
  if (failure) FIEL_TRY(stop_if_not_its_fault(lab, *failure));
  if (failure || !std::isfinite(sum)) return std::optional<double>();
  return std::optional(sum / static_cast<double>(samples.size()));
}

// {"errors": {region: error}} of the regions that could be measured in the time there is, the noisiest by rounding first:
// those are the ones to know.
Result<Json> measure_sensitivity(Lab& lab, const Rewriter& rewriter, const Ranges& ranges, const Json& observed) {
  return lab.recorder.once("sensitivity", "sensitivity", [&]() -> Result<Record> {
    const double started_at = lab.recorder.live_seconds();
    lab.progress.step(fmt::format("measuring what each of {} nodes loses in 8 bits, alone", rewriter.regions().size()));
    const double limit = std::min(kSensitivitySeconds, kSensitivityShare * lab.contract.budget.wall_seconds);
    std::vector<std::pair<double, std::string>> queue;
    for (std::size_t i = 0; i < rewriter.regions().size(); ++i) {
      const Region& region = rewriter.regions()[i];
      const auto range = ranges.find(region.activation);
      if (range == ranges.end()) continue;
      const double power = observed["power"][region.activation].get<double>();
      queue.emplace_back(rewriter.weight_noise(i, weight_bits(lab)) + Rewriter::activation_noise(range->second, power), region.name);
    }
    std::ranges::sort(queue, std::greater());
    const auto samples = first_samples(lab, kSensitivitySamples);
    std::map<int, SampleOutputs> expected;
    Json body = {{"errors", Json::object()}, {"samples", samples.size()}};
    std::optional<Bench> bench;
    bench.emplace(lab);
    auto failure = FIEL_TRY(bench->run(lab.model.path, samples, [&](auto outputs, Last) -> Result<bool> {
      for (const SampleOutputs& sample : outputs) expected[sample.index] = sample;
      return true;
    }));
    if (failure) FIEL_TRY(stop_if_not_its_fault(lab, *failure));
    for (const auto& [noise, region] : queue) {
      if (failure || lab.recorder.live_seconds() - started_at > limit) break;
      if (!bench->alive()) bench.emplace(lab);
      const auto error = FIEL_TRY(error_of_one(lab, *bench, rewriter, region, ranges, samples, expected));
      if (error) body["errors"][region] = *error;
      lab.progress.status(fmt::format("sensitivity: {} of {} nodes", body["errors"].size(), queue.size()));
    }
    body["seconds"] = lab.recorder.live_seconds() - started_at;
    return Record{.body = std::move(body)};
  });
}

// The share of the recipe's regions that lose least alone; those that were not measured are taken to lose least, since the
// noisiest by rounding were measured first. A sum of single losses is a proxy: whether what comes out is accurate the gate says.
Result<std::set<std::string>> least_sensitive(Lab& lab, const Rewriter& rewriter, const Recipe& recipe, const Ranges& ranges,
                                              const Json& observed) {
  std::vector<std::pair<double, std::string>> errors;
  for (const Region& region : rewriter.regions()) {
    if (recipe.regions.contains(region.name) && ranges.contains(region.activation)) errors.emplace_back(0, region.name);
  }
  if (recipe.share < 1) {
    const Json measured = FIEL_TRY(measure_sensitivity(lab, rewriter, ranges, observed));
    for (auto& [error, name] : errors) error = object_or_empty(measured, "errors").value(name, 0.0);
    std::ranges::sort(errors);
    errors.resize(static_cast<std::size_t>(std::ceil(recipe.share * static_cast<double>(errors.size()))));
  }
  std::set<std::string> chosen;
  for (const auto& [error, name] : errors) chosen.insert(name);
  return chosen;
}

Result<Outcome<fs::path>> make_variant(Lab& lab, const Rewriter& rewriter, const Recipe& recipe, const Json& observed) {
  if (observed.contains("failure")) {
    return failed(FailureKind::kUnsupported, "the ranges of the model's activations can't be observed: " +
                                                 observed["failure"].value("message", ""));
  }
  const Ranges ranges = ranges_from(observed, recipe.ranges);
  Int8Choice choice{.regions = FIEL_TRY(least_sensitive(lab, rewriter, recipe, ranges, observed)), .weight_bits = weight_bits(lab)};
  if (choice.regions.empty()) return failed(FailureKind::kUnsupported, "no node has an activation of a finite range");
  const fs::path file = variant_file(lab, recipe.name);
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
  if (contract.calibration.empty() && contract.data.empty()) return {.knob = {}, .why_not = "int8 needs [data] calibration", .rewriter = {}};
  if (!contract.state.empty()) return {.knob = {}, .why_not = "models with state are not rewritten", .rewriter = {}};
  auto opened = Rewriter::open(model.path);
  if (!opened) return {.knob = {}, .why_not = opened.error().message, .rewriter = {}};
  auto rewriter = std::make_shared<const Rewriter>(std::move(*opened));
  if (rewriter->regions().empty()) return {.knob = {}, .why_not = "the model has no Conv, MatMul or Gemm with constant float32 weights", .rewriter = {}};
  Knob knob{.name = std::string(kVariantKnob), .kind = KnobKind::kVariant, .values = {std::string(kFloat32)},
            .default_value = std::string(kFloat32),
            .help = "The model as it is, or with its Conv, MatMul and Gemm nodes in 8 bits: all of them, the share in per cent that "
                    "loses least alone, those of one kind; ranges by the extremes seen or by the average of each sample's.",
            .only_if = {}};
  for (const Recipe& recipe : recipes(rewriter->regions())) knob.values.push_back(recipe.name);
  return {.knob = std::move(knob), .why_not = {}, .rewriter = std::move(rewriter)};
}

Result<Outcome<fs::path>> model_of(Lab& lab, const BuildRoute& route) {
  const auto setting = route.settings.find(std::string(kVariantKnob));
  if (setting == route.settings.end() || setting->second == kFloat32) return Outcome<fs::path>(lab.model.path);
  if (lab.made_variants.contains(setting->second)) return Outcome<fs::path>(variant_file(lab, setting->second));
  if (!lab.calibration || !lab.rewriter) {
    return Outcome<fs::path>(failed(FailureKind::kUnsupported, "there is no calibration set"));
  }
  const Rewriter& rewriter = *lab.rewriter;
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
