// How is one way to run the model written? A build route: one value for every knob, written
// `engine=openvino variant=int8 NUM_STREAMS=2`; knobs left out have their default.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fiel {

struct BuildRoute {
  std::string engine;
  std::map<std::string, std::string> settings;  // those that differ from the default

  friend bool operator==(const BuildRoute&, const BuildRoute&) = default;
  friend auto operator<=>(const BuildRoute&, const BuildRoute&) = default;
};

/// What it sets the knob to; `otherwise` where it does not.
std::string setting_or(const BuildRoute& route, std::string_view knob, std::string_view otherwise);

/// Engine first, then the knobs in name order. Of canonical routes: equal text, equal route.
std::string to_string(const BuildRoute& route);

class Space;

/// Reads a route against a space. The words may come in any order; `engine=` may be left out where
/// the space has one engine. Unknown engines, knobs and values are kUsage errors that name the
/// nearest known one, and so is a setting that would not count; the result is canonical.
Result<BuildRoute> parse_route(std::string_view text, const Space& space);

}  // namespace fiel
