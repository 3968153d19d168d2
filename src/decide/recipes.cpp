#include "decide/recipes.h"

#include <fmt/format.h>

#include "decide/ladder.h"

namespace fiel {
namespace {

constexpr double kMostly = 0.5;  // of all weights that can be quantised

}  // namespace

std::vector<Recipe> recipes(const Rewriter& rewriter) {
  using Kind = Recipe::Kind;
  std::set<std::string> all, convolutions, products;
  double weights = 0, weights_of_products = 0;
  for (const Region& region : rewriter.regions()) {
    const bool convolves = region.op == "Conv";
    all.insert(region.name);
    (convolves ? convolutions : products).insert(region.name);
    weights += static_cast<double>(region.weights);
    weights_of_products += convolves ? 0 : static_cast<double>(region.weights);
  }
  if (all.empty()) return {};
  const bool mostly_products = weights_of_products >= kMostly * weights;
  const auto with_ranges = [&](const char* name, const char* ranges) {
    return Recipe{.name = name, .regions = all, .ranges = ranges, .stands_in_for = "int8"};
  };
  std::vector<Recipe> list = {{.name = "int8", .regions = all}, {.name = "int8_whole", .regions = all, .results = Results::kRounded}};
  const std::vector<Recipe> wholes = list;
  for (const Recipe& whole : wholes) {
    for (const int step : ladder_steps(static_cast<int>(all.size()))) {
      Recipe recipe = whole;
      recipe.name = fmt::format("{}_but_{}", whole.name, step);
      recipe.floats = step;
      recipe.stands_in_for = whole.name;
      list.push_back(std::move(recipe));
    }
  }
  list.push_back({.name = "int8_corrected", .regions = all, .bias = Bias::kCorrected, .stands_in_for = "int8"});
  if (!products.empty()) list.push_back({.name = "int8_smooth", .regions = all, .smoothing = Smoothing::kHalf, .stands_in_for = "int8"});
  list.push_back(with_ranges("int8_average", "average"));
  if (!convolutions.empty() && !products.empty()) {
    list.push_back({.name = "int8_conv", .regions = convolutions});
    list.push_back({.name = "int8_matmul", .regions = products});
  }
  if (mostly_products) list.push_back({.name = "dynamic_int8", .kind = Kind::kDynamicInt8});
  list.push_back({.name = "weight_int8", .kind = Kind::kWeightInt8});
  list.push_back({.name = "int8_symmetric", .regions = all, .activations = Activations::kInt8Symmetric});
  for (const auto& [name, ranges] : {std::pair("int8_mse", "mse"), std::pair("int8_p9999", "p9999"), std::pair("int8_p999", "p999"),
                                     std::pair("int8_entropy", "entropy")}) {
    list.push_back(with_ranges(name, ranges));
  }
  list.push_back({.name = "fp16", .kind = Kind::kFloat16});
  // Up to opset 21 Conv takes no bfloat16.
  if (mostly_products || rewriter.opset() >= 22) list.push_back({.name = "bf16", .kind = Kind::kBFloat16});
  return list;
}

std::vector<std::vector<std::string>> ladders_of(std::span<const Recipe> recipes) {
  std::vector<std::vector<std::string>> ladders;
  for (const Recipe& whole : recipes) {
    std::vector<std::string> steps = {whole.name};
    for (const Recipe& recipe : recipes) {
      if (recipe.floats > 0 && recipe.stands_in_for == whole.name) steps.push_back(recipe.name);
    }
    if (steps.size() > 1) ladders.push_back(std::move(steps));
  }
  return ladders;
}

}  // namespace fiel
