// The model's own precision as a knob: which variants of the model there are, and the file of the one that a route asks for.
// They are made when a route first needs them, from ranges that one process observes on the calibration set.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "decide/lab.h"

namespace fiel {

inline constexpr std::string_view kVariantKnob = "variant";

/// Values float32 (the model as it is), int8 and its kin, and what makes them; or why there is none.
struct VariantKnob {
  std::optional<Knob> knob;
  std::string why_not;
  std::shared_ptr<const Rewriter> rewriter;  // of the model, read once; with a knob only
};
VariantKnob variant_knob(const OnnxModel& model, const Contract& contract);

/// The model that the route's engine is to build: the contract's, or a variant below the run folder. A Failure of kind
/// kUnsupported or kBuildError where it can't be made.
Result<Outcome<std::filesystem::path>> model_of(Lab& lab, const BuildRoute& route);

}  // namespace fiel
