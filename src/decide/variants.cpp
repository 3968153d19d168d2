#include "decide/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/files.h"
#include "decide/observe.h"
#include "decide/recipes.h"
#include "gate/compare.h"
#include "journal/record.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFloat32 = "float32";
constexpr std::size_t kSensitivitySamples = 12;
constexpr double kSensitivitySeconds = 25;  // at most, and at most this share of the wall time; what was not measured by
constexpr double kSensitivityShare = 0.05;  // then is taken to lose least
constexpr std::size_t kMostToldApart = 20;  // nodes that stay as they are

// Kernels of x86 CPUs without VNNI add two products of 8 bits in 16, which saturates; with weights of 7 bits it can't.
int weight_bits(const Lab& lab) {
  const auto& features = lab.engines.at(lab.contract.engines.front().name).hello.cpu_features;
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(features, [&](const std::string& one) { return one.find(name) != std::string::npos; });
  };
  return has("avx") && !has("vnni") && !has("amx_int8") ? 7 : 8;
}

fs::path variant_file(const Lab& lab, const std::string& name) { return lab.folder / "variants" / (name + ".onnx"); }

Failure failed(FailureKind kind, std::string message) {
  return {.kind = kind, .message = std::move(message), .phase = "variant", .log_tail = {}, .exit_status = {}, .signal = {}};
}

// Relative L2 error of the outputs with one region alone in 8 bits, averaged over some calibration samples.
Result<std::optional<double>> error_of_one(Lab& lab, Bench& bench, const Rewriter& rewriter, const std::string& region,
                                           const Ranges& ranges, std::span<const int> samples,
                                           const std::map<int, SampleOutputs>& expected) {
  const fs::path file = lab.folder / "scratch" / "one_region.onnx";
  FIEL_TRY(rewriter.write_int8(file, ranges, {.regions = {region}, .weight_bits = weight_bits(lab)}));
  double sum = 0;
  const auto failure = FIEL_TRY(bench.run(file, samples, {}, [&](auto outputs, Last) -> Result<bool> {
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
    auto failure = FIEL_TRY(bench->run(lab.model.path, samples, {}, [&](auto outputs, Last) -> Result<bool> {
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

// The file, or why it can't be made.
struct Made {
  fs::path file;
  std::size_t regions = 0;     // in 8 bits; for other kinds 0
  std::vector<LeftOut> left;   // nodes that stay as they are
};

Result<Outcome<Made>> write_static(Lab& lab, const Rewriter& rewriter, const Recipe& recipe, const fs::path& file) {
  if (!lab.calibration) return Outcome<Made>(failed(FailureKind::kUnsupported, "its ranges need a calibration set"));
  const Json observed = FIEL_TRY(observe(lab, rewriter));
  if (observed.contains("failure")) {
    return Outcome<Made>(failed(FailureKind::kUnsupported, "the ranges of the model's activations can't be observed: " +
                                                               observed["failure"].value("message", "")));
  }
  const bool by_extremes = recipe.ranges == "min_max" || recipe.ranges == "average";
  const Json values = by_extremes ? Json::object() : FIEL_TRY(observe_values(lab, rewriter, observed));
  if (!by_extremes && !values.contains(recipe.ranges)) {
    const std::string why = values.contains("failure") ? values["failure"].value("message", "") : "no time was left for it";
    return Outcome<Made>(failed(FailureKind::kUnsupported, "the values of the model's activations can't be counted: " + why));
  }
  const Ranges ranges = ranges_by(recipe.ranges, observed, values);
  const Int8Choice choice{.regions = FIEL_TRY(least_sensitive(lab, rewriter, recipe, ranges, observed)),
                          .weight_bits = weight_bits(lab), .activations = recipe.activations};
  if (choice.regions.empty()) return Outcome<Made>(failed(FailureKind::kUnsupported, "no node has an activation of a finite range"));
  FIEL_TRY(rewriter.write_int8(file, ranges, choice));
  return Outcome<Made>(Made{.file = file, .regions = choice.regions.size(), .left = rewriter.left_out()});
}

Result<Outcome<Made>> write_recipe(Lab& lab, const Rewriter& rewriter, const Recipe& recipe) {
  const fs::path file = variant_file(lab, recipe.name);
  FIEL_TRY(ensure_folder(file.parent_path()));
  const bool is_half = recipe.kind == Recipe::Kind::kFloat16 || recipe.kind == Recipe::Kind::kBFloat16;
  Made made{.file = file, .left = is_half ? std::vector<LeftOut>() : rewriter.left_out()};
  Result<std::vector<LeftOut>> left;
  switch (recipe.kind) {
    case Recipe::Kind::kStaticInt8: return write_static(lab, rewriter, recipe, file);
    case Recipe::Kind::kDynamicInt8: left = rewriter.write_dynamic_int8(file, weight_bits(lab)); break;
    case Recipe::Kind::kWeightInt8: FIEL_TRY(rewriter.write_weight_int8(file)); break;
    case Recipe::Kind::kFloat16: left = rewriter.write_half(file, HalfType::kFloat16); break;
    case Recipe::Kind::kBFloat16: left = rewriter.write_half(file, HalfType::kBFloat16); break;
  }
  if (!left && left.error().kind != ErrorKind::kContract) return std::unexpected(std::move(left).error());
  if (!left) return Outcome<Made>(failed(FailureKind::kUnsupported, left.error().message));
  made.left.insert(made.left.end(), left->begin(), left->end());
  return Outcome<Made>(std::move(made));
}

Result<std::string> digest_of(const fs::path& file) {
  Sha256 digest;
  for (const fs::path& part : {file, fs::path(file.string() + ".data")}) {
    std::error_code code;
    if (fs::exists(part, code)) digest.field(FIEL_TRY(sha256_file(part)));
  }
  return digest.hex();
}

Result<Outcome<fs::path>> make_variant(Lab& lab, const Rewriter& rewriter, const Recipe& recipe) {
  auto outcome = FIEL_TRY(write_recipe(lab, rewriter, recipe));
  if (auto* failure = std::get_if<Failure>(&outcome)) return Outcome<fs::path>(std::move(*failure));
  const Made& made = std::get<Made>(outcome);
  const std::string digest = FIEL_TRY(digest_of(made.file));
  const Json known = FIEL_TRY(lab.recorder.once("variant/" + recipe.name, "variant", [&]() -> Result<Record> {
    Json body = {{"variant", recipe.name}, {"digest", digest}, {"regions", made.regions}, {"left_out", made.left.size()},
                 {"why", Json::array()}};
    for (std::size_t i = 0; i < std::min(made.left.size(), kMostToldApart); ++i) {
      body["why"].push_back(fmt::format("{}: {}", made.left[i].name, made.left[i].why));
    }
    return Record{.body = std::move(body)};
  }));
  if (known["digest"] != digest) {
    return fail(ErrorKind::kCorrupt, fmt::format("the variant {} does not come out as it did when this run began", recipe.name),
                "start a new run");
  }
  return Outcome<fs::path>(made.file);
}

std::string help_text() {
  return "The model as it is, or in another precision. int8: its Conv, MatMul and Gemm nodes in 8 bits, all of them, the share in per "
         "cent that loses least alone, or those of one kind; ranges by the extremes seen, by their average over samples, by squared "
         "error, percentile or entropy. dynamic_int8: products quantised as they come. weight_int8: weights alone. fp16, bf16: halves. "
         "Others are the contract's own [[variant]] files.";
}

}  // namespace

VariantKnob variant_knob(const OnnxModel& model, const Contract& contract, VariantUse use) {
  VariantKnob result;
  Knob knob{.name = std::string(kVariantKnob), .kind = KnobKind::kVariant, .values = {std::string(kFloat32)},
            .default_value = std::string(kFloat32), .help = help_text(), .only_if = {}};
  const bool named = use == VariantUse::kNamed;
  const bool has_state = !contract.state.empty();
  const bool has_ranges = !has_state && !(contract.calibration.empty() && contract.data.empty());
  auto opened = Rewriter::open(model.path);
  if (!opened) {
    result.note = "no variants of the model by fiel: " + opened.error().message;
  } else if (opened->regions().empty()) {
    result.note = "no variants of the model by fiel: it has no Conv, MatMul or Gemm with constant float32 weights";
  } else {
    result.rewriter = std::make_shared<const Rewriter>(std::move(*opened));
    if (has_state) result.note = "no variants with fixed ranges: the ranges of a model with state are not observed";
    else if (!has_ranges) result.note = "no variants with fixed ranges (int8): they need [data] calibration";
    for (const Recipe& recipe : recipes(*result.rewriter)) {
      if (recipe.needs_ranges() && !has_ranges && !named) continue;
      knob.values.push_back(recipe.name);
      if (!recipe.stands_in_for.empty()) knob.stand_ins[recipe.name] = recipe.stands_in_for;
    }
  }
  for (const VariantFile& file : contract.variants) knob.values.push_back(file.name);
  if (knob.values.size() > 1) result.knob = std::move(knob);
  return result;
}

Result<Outcome<fs::path>> model_of(Lab& lab, const BuildRoute& route) {
  const auto setting = route.settings.find(std::string(kVariantKnob));
  if (setting == route.settings.end() || setting->second == kFloat32) return Outcome<fs::path>(lab.model.path);
  const std::string& name = setting->second;
  const auto& files = lab.contract.variants;
  const auto file = std::ranges::find(files, name, &VariantFile::name);
  if (file != files.end()) return Outcome<fs::path>(file->model);
  if (lab.made_variants.contains(name)) return Outcome<fs::path>(variant_file(lab, name));
  if (lab.rewriter) {
    for (const Recipe& recipe : recipes(*lab.rewriter)) {
      if (recipe.name != name) continue;
      auto made = FIEL_TRY(make_variant(lab, *lab.rewriter, recipe));
      if (std::holds_alternative<fs::path>(made)) lab.made_variants.insert(name);
      return made;
    }
  }
  return Outcome<fs::path>(failed(FailureKind::kUnsupported, "there is no such variant"));
}

}  // namespace fiel
