// How are routes and expressions cut into words, and how are names listed in messages about them?
// Shared by build_route.cpp, expressions.cpp and space.cpp; of no use elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "route/space.h"

namespace fiel {

/// Cuts at blanks; blanks inside [brackets] are dropped. At least one word, brackets closed.
Result<std::vector<std::string>> split_words(std::string_view text);

/// "engine=openvino", ... of all engines of the space.
std::vector<std::string> engine_words(const Space& space);

std::vector<std::string> engine_names(const Space& space);
std::vector<std::string> knob_names(const EngineSpace& engine);

/// "shape=dynamic and A=[x|y]".
std::string describe_conditions(const Knob& knob);

/// kUsage: "no knob 'NUM_STREAM' in engine openvino", with the nearest in the hint.
std::unexpected<Error> unknown_engine(std::string_view name, const Space& space);
std::unexpected<Error> unknown_knob(std::string_view name, const EngineSpace& engine);
std::unexpected<Error> unknown_value(std::string_view value, const Knob& knob);

}  // namespace fiel
