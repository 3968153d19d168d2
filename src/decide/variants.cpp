#include "decide/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/files.h"
#include "decide/observe.h"
#include "decide/recipes.h"
#include "decide/sensitivity.h"
#include "decide/variant_program.h"
#include "decide/variant_record.h"
#include "model/model_file.h"

namespace fiel {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFloat32 = "float32";
constexpr std::string_view kNone = "none";
constexpr int kMostAgain = 4;               // nodes of a step, by their work, that are worth a try in 8 bits again
constexpr std::size_t kMostToldApart = 20;  // nodes that stay as they are

fs::path variant_file(const Lab& lab, const std::string& name) { return lab.folder / "variants" / (name + ".onnx"); }

// The nodes that become 8 bit. What comes out is a proxy's choice: whether it is accurate the gate says.
Result<std::set<std::string>> chosen_regions(Lab& lab, const Rewriter& rewriter, const Recipe& recipe, const Ranges& ranges,
                                             const Json& observed) {
  std::set<std::string> chosen;
  for (const Region& region : rewriter.regions()) {
    if (recipe.regions.contains(region.name) && ranges.contains(region.activation)) chosen.insert(region.name);
  }
  if (recipe.floats == 0) return chosen;
  const auto order = FIEL_TRY(nodes_by_loss(lab, rewriter, ranges, observed));
  const auto floats = by_work(order, recipe.floats);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    if (static_cast<int>(i) + 1 != recipe.again) chosen.erase(floats[i]);
  }
  return chosen;
}

// The file, or why it can't be made.
struct Made {
  fs::path file;
  std::set<std::string> regions = {};  // in 8 bits, of static int8
  std::vector<LeftOut> left;   // nodes that stay as they are
};

Result<Outcome<Made>> write_static(Lab& lab, const Rewriter& rewriter, const Recipe& recipe, const fs::path& file) {
  if (!lab.calibration) return Outcome<Made>(variant_failure(FailureKind::kUnsupported, "its ranges need a calibration set"));
  const Json observed = FIEL_TRY(observe(lab, rewriter));
  if (observed.contains("failure")) {
    return Outcome<Made>(variant_failure(FailureKind::kUnsupported, "the ranges of the model's activations can't be observed: " +
                                                               observed["failure"].value("message", "")));
  }
  const bool by_extremes = recipe.ranges == "min_max" || recipe.ranges == "average";
  const Json values = by_extremes ? Json::object() : FIEL_TRY(observe_values(lab, rewriter, observed));
  if (!by_extremes && !values.contains(recipe.ranges)) {
    const std::string why = values.contains("failure") ? values["failure"].value("message", "") : "no time was left for it";
    return Outcome<Made>(variant_failure(FailureKind::kUnsupported, "the values of the model's activations can't be counted: " + why));
  }
  const Ranges ranges = ranges_by(recipe.ranges, observed, values);
  const Int8Choice choice{.regions = FIEL_TRY(chosen_regions(lab, rewriter, recipe, ranges, observed)),
                          .weight_bits = weight_bits(lab), .activations = recipe.activations, .results = recipe.results, .bias = recipe.bias,
                          .smoothing = recipe.smoothing, .channels = channels_of(observed)};
  if (choice.regions.empty()) return Outcome<Made>(variant_failure(FailureKind::kUnsupported, "no node has an activation of a finite range"));
  FIEL_TRY(rewriter.write_int8(file, ranges, choice));
  return Outcome<Made>(Made{.file = file, .regions = choice.regions, .left = rewriter.left_out()});
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
  if (!left) return Outcome<Made>(variant_failure(FailureKind::kUnsupported, left.error().message));
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

// Of those that could be in 8 bits.
Json nodes_in_float(const Rewriter& rewriter, const std::set<std::string>& regions) {
  Json nodes = Json::array();
  for (const Region& region : rewriter.regions()) {
    if (!regions.contains(region.name)) nodes.push_back(region.name);
  }
  return nodes;
}

Result<Outcome<fs::path>> make_variant(Lab& lab, const Rewriter& rewriter, const Recipe& recipe) {
  auto outcome = FIEL_TRY(write_recipe(lab, rewriter, recipe));
  if (auto* failure = std::get_if<Failure>(&outcome)) return Outcome<fs::path>(std::move(*failure));
  const Made& made = std::get<Made>(outcome);
  const std::string digest = FIEL_TRY(digest_of(made.file));
  Json more = {{"regions", made.regions.size()}, {"left_out", made.left.size()}, {"why", Json::array()}};
  if (recipe.floats > 0) more["in_float32"] = nodes_in_float(rewriter, made.regions);
  for (std::size_t i = 0; i < std::min(made.left.size(), kMostToldApart); ++i) {
    more["why"].push_back(fmt::format("{}: {}", made.left[i].name, made.left[i].why));
  }
  FIEL_TRY(record_variant(lab, recipe.name, digest, std::move(more)));
  return Outcome<fs::path>(made.file);
}

std::string help_text() {
  return "The model as it is, or in another precision. int8: its Conv, MatMul and Gemm nodes in 8 bits, all of them, all but so many "
         "that lose most for the time that they take, or those of one kind; ranges by the extremes seen, by their average over samples, by squared "
         "error, percentile or entropy. int8_whole: their results, too, of all or all but so many. dynamic_int8: products quantised as they come. weight_int8: weights alone. fp16, bf16: halves. "
         "Others are the contract's own [[variant]] files.";
}

// From where a step of the ladder is to where single nodes of it are in 8 bits again, judged like all else.
void add_again_knob(VariantKnob& result, std::span<const Recipe> all) {
  Knob again{.name = std::string(kAgainKnob), .kind = KnobKind::kVariant, .values = {std::string(kNone)},
             .default_value = std::string(kNone),
             .help = "Of the nodes that int8_but_K leaves in float32, the one with the most work (1), the second most (2), ... "
                     "is in 8 bits all the same.",
             .only_if = {{.knob = std::string(kVariantKnob), .values = {}}}};
  int most = 0;
  for (const Recipe& recipe : all) {
    if (recipe.floats < 2) continue;  // without its only one it is int8
    again.only_if[0].values.push_back(recipe.name);
    most = std::max(most, recipe.floats);
  }
  if (most == 0) return;
  for (int rank = 1; rank <= std::min(most, kMostAgain); ++rank) {
    again.values.push_back(fmt::format("{}", rank));
    for (const Recipe& recipe : all) {
      if (recipe.floats < 2 || recipe.floats >= rank) continue;
      result.forbidden.push_back({.settings = {{std::string(kVariantKnob), recipe.name}, {std::string(kAgainKnob), fmt::format("{}", rank)}},
                                  .why = fmt::format("{} leaves {} nodes in float32", recipe.name, recipe.floats)});
    }
  }
  result.again = std::move(again);
}

}  // namespace

VariantKnob variant_knob(const OnnxModel& model, const Contract& contract, VariantUse use) {
  VariantKnob result;
  Knob knob{.name = std::string(kVariantKnob), .kind = KnobKind::kVariant, .values = {std::string(kFloat32)},
            .default_value = std::string(kFloat32), .help = help_text(), .only_if = {}};
  const bool named = use == VariantUse::kNamed;
  const bool has_ranges = !(contract.calibration.empty() && contract.data.empty());
  auto opened = is_onnx(model) ? Rewriter::open(model.path) : fail(ErrorKind::kContract, "it is no ONNX model");
  if (!opened) {
    result.note = "no variants of the model by fiel: " + opened.error().message;
  } else if (opened->regions().empty()) {
    result.note = "no variants of the model by fiel: it has no Conv, MatMul or Gemm with constant float32 weights";
  } else {
    result.rewriter = std::make_shared<const Rewriter>(std::move(*opened));
    if (!has_ranges) result.note = "no variants with fixed ranges (int8): they need [data] calibration";
    std::vector<Recipe> offered = recipes(*result.rewriter);
    std::erase_if(offered, [&](const Recipe& recipe) { return recipe.needs_ranges() && !has_ranges && !named; });
    for (const Recipe& recipe : offered) {
      knob.values.push_back(recipe.name);
      if (!recipe.stands_in_for.empty()) knob.stand_ins[recipe.name] = recipe.stands_in_for;
    }
    knob.ladders = ladders_of(offered);
    add_again_knob(result, offered);
  }
  for (const VariantFile& file : contract.variants) knob.values.push_back(file.name);
  if (knob.values.size() > 1) result.knob = std::move(knob);
  return result;
}

Result<Outcome<fs::path>> model_of(Lab& lab, const BuildRoute& route) {
  const std::string name = setting_or(route, kVariantKnob, kFloat32), again = setting_or(route, kAgainKnob, kNone);
  if (name == kFloat32) return Outcome<fs::path>(lab.model.path);
  const auto& files = lab.contract.variants;
  const auto file = std::ranges::find(files, name, &VariantFile::name);
  if (file != files.end() && !file->program.empty()) return make_by_program(lab, *file);
  if (file != files.end()) return Outcome<fs::path>(file->model);
  const std::vector<Recipe> all = lab.rewriter ? recipes(*lab.rewriter) : std::vector<Recipe>();
  const auto found = std::ranges::find(all, name, &Recipe::name);
  if (found == all.end()) return Outcome<fs::path>(variant_failure(FailureKind::kUnsupported, "there is no such variant"));
  Recipe recipe = *found;
  if (again != kNone) {
    recipe.again = std::atoi(again.c_str());
    recipe.name += "_again_" + again;
  }
  if (lab.made_variants.contains(recipe.name)) return Outcome<fs::path>(variant_file(lab, recipe.name));
  auto made = FIEL_TRY(make_variant(lab, *lab.rewriter, recipe));
  if (std::holds_alternative<fs::path>(made)) lab.made_variants.insert(recipe.name);
  return made;
}

}  // namespace fiel
