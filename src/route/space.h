// All build routes of all engines: what exists, what is valid, and how to walk it. Knows nothing of timing or accuracy.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "route/build_route.h"
#include "route/knob.h"

namespace fiel {

/// A combination that must not be built: all of these settings together.
struct Forbidden {
  std::map<std::string, std::string> settings;
  std::string why;
};

struct EngineSpace {
  std::string engine;
  std::vector<Knob> knobs;
  std::vector<Forbidden> forbidden;
};

class Space {
 public:
  static Result<Space> create(std::vector<EngineSpace> engines);

  const std::vector<EngineSpace>& engines() const { return engines_; }
  const EngineSpace* find_engine(std::string_view name) const;
  const Knob* find_knob(std::string_view engine, std::string_view knob) const;

  /// Drops defaults and knobs whose condition does not hold.
  BuildRoute canonical(BuildRoute route) const;
  /// Known engine, knobs and values, nothing forbidden.
  Result<> validate(const BuildRoute& route) const;

  /// Number of canonical routes; a double since it may be astronomically large.
  double size() const;
  /// Walks all canonical routes in a fixed order until `visit` returns false.
  void enumerate(const std::function<bool(const BuildRoute&)>& visit) const;
  BuildRoute random_route(Rng& rng) const;
  /// All valid canonical routes that differ from `route` in one knob, in a fixed order.
  std::vector<BuildRoute> neighbours(const BuildRoute& route) const;

 private:
  std::vector<EngineSpace> engines_;
};

/// Restricts a space by hand: 'NUM_STREAMS=[1|2|4] variant=[float32|int8] engine=openvino'. Knobs not named stay at
/// their default (a sweep, as in trtexec); a word `...` keeps them free. Unknown names and values are kUsage errors.
Result<Space> restrict_space(const Space& space, std::string_view expression);

}  // namespace fiel
