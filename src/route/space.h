// Which build routes are there, of all engines: what is valid, and how to walk it?
//
// Knows nothing of timing or accuracy. A route is canonical when it lists neither defaults nor
// knobs that do not count (their condition does not hold); two routes are the same candidate
// exactly if their canonical forms are equal. A condition on a knob that the space lacks is taken
// to hold: that knob stands at its default, and whether it fits only the engine can say.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "route/build_route.h"
#include "route/knob.h"

namespace fiel {

/// A combination that must not be built: all of these settings together. A knob that does not count
/// stands at its default; one that the engine lacks never matches.
struct Forbidden {
  std::map<std::string, std::string> settings;
  std::string why;
};

struct EngineSpace {
  std::string engine;
  std::vector<Knob> knobs;
  std::vector<Forbidden> forbidden;
};

/// The first route of each list, then the second of each, and so on.
std::vector<BuildRoute> in_turns(const std::vector<std::vector<BuildRoute>>& lists);

class Space {
 public:
  /// kProtocol where names or values are empty, double or hold blanks or []|, a default is none of
  /// the values, or conditions form a circle. Knobs are kept in order, but for one: a knob comes
  /// after those that its conditions name.
  static Result<Space> create(std::vector<EngineSpace> engines);

  const std::vector<EngineSpace>& engines() const { return engines_; }
  /// These routes and no others, as in a recording that does not hold every combination. kUsage where one is not valid here or
  /// there is none.
  Result<Space> only(std::vector<BuildRoute> routes) const;
  /// Those that `only` named, sorted; null: every combination that is not forbidden.
  const std::vector<BuildRoute>* listed() const { return listed_.get(); }

  const EngineSpace* find_engine(std::string_view name) const;
  const Knob* find_knob(std::string_view engine, std::string_view knob) const;

  /// Drops defaults and knobs whose condition does not hold. Names it does not know are kept.
  BuildRoute canonical(BuildRoute route) const;
  /// Known engine, knobs and values, nothing forbidden. kUsage, with the nearest known name.
  Result<> validate(const BuildRoute& route) const;

  /// Number of canonical routes; a double since it may be astronomically large. Exact up to 2^53,
  /// unless more than 2^16 combinations of knobs hang together by conditions and clauses: then
  /// those are counted as if nothing were forbidden and every knob counted.
  double size() const;
  /// Walks all canonical routes in a fixed order until `visit` returns false: engines and knobs as
  /// declared, the last knob fastest, each knob's default first; listed routes as they are sorted. The first route of an engine is
  /// its default (unless that is forbidden or excluded).
  void enumerate(const std::function<bool(const BuildRoute&)>& visit) const;
  /// Each route equally likely. For many draws use a RouteSampler (route/sampler.h).
  BuildRoute random_route(Rng& rng) const;
  /// All valid canonical routes that differ from `route` in one knob, in a fixed order: a first other value of each knob as
  /// declared, then a second of each, and so on. Turning a knob that others depend on drops their settings.
  std::vector<BuildRoute> neighbours(const BuildRoute& route) const;
  /// The valid route that keeps most of `route`: itself where it is valid; a setting that this
  /// (restricted) space does not allow falls back to the default or to the first value allowed, an
  /// unknown engine to the first one. Nothing where that is forbidden; where routes are listed, the first of those that differ
  /// in the fewest knobs.
  std::optional<BuildRoute> nearest_valid(const BuildRoute& route) const;

 private:
  friend Result<Space> restrict_space(const Space& space, std::string_view expression);

  std::vector<EngineSpace> engines_;
  std::shared_ptr<const std::vector<BuildRoute>> listed_;  // never changed, and long: strategies copy their space
};

/// Restricts a space by hand: 'NUM_STREAMS=[1|2|4] variant=[float32|int8] engine=openvino'. Knobs
/// not named stay at their default (a sweep, as in trtexec); a word `...` keeps them free. An
/// engine that lacks a named knob stays at its default there; one that has the knob but none of the
/// values is left out. Unknown names and values are kUsage errors, and so is a knob that could not
/// count.
Result<Space> restrict_space(const Space& space, std::string_view expression);

}  // namespace fiel
