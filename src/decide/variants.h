// The model's own precision as a knob: which variants of the model there are, and the file of the one that a route asks for.
// They are made when a route first needs them, from ranges that one process observes on the calibration set.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decide/lab.h"

namespace fiel {

inline constexpr std::string_view kVariantKnob = "variant";
/// Off the ladder: which of the nodes that a step leaves in float32 is in 8 bits again.
inline constexpr std::string_view kAgainKnob = "int8_again";

/// For a search: what can be made here. kNamed: all that may have been made, for who reads routes of another time and place.
enum class VariantUse { kMade, kNamed };

/// Values float32 (the model as it is), fiel's own (decide/recipes.h), and the contract's [[variant]] files.
struct VariantKnob {
  std::optional<Knob> knob = {};                       // nothing where there is only float32
  std::optional<Knob> again = {};                      // where there is a ladder
  std::vector<Forbidden> forbidden = {};               // there is no third of two nodes
  std::string note = {};                               // what there is none of, and why; empty: nothing to say
  std::shared_ptr<const Rewriter> rewriter = {};       // of the model, read once; where fiel can rewrite it
};
VariantKnob variant_knob(const OnnxModel& model, const Contract& contract, VariantUse use = VariantUse::kMade);

/// The model that the route's engine is to build: the contract's, or a variant below the run folder. A Failure of kind
/// kUnsupported or kBuildError where it can't be made.
Result<Outcome<std::filesystem::path>> model_of(Lab& lab, const BuildRoute& route);

}  // namespace fiel
