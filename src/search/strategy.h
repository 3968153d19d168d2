// Which route to try next? Ask and tell: a strategy sees routes and how they did, never engines,
// data or clocks. Deterministic in its seed and in what it was told.
//
//   ask() -> route -> (built, probed, timed by others) -> tell(trial) -> ask() ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "route/space.h"

namespace fiel {

struct Trial {
  enum class Outcome { kAdmissibleSoFar, kRejected, kFailed };
  BuildRoute route;
  Outcome outcome = Outcome::kFailed;
  std::optional<double> log_speedup = {};  // ln(t_comparator / t_candidate); bigger is better
  std::optional<double> seconds = {};      // what building, judging and timing it took
};

/// "admissible", "rejected", "failed": as recordings and programs that propose routes have it.
std::string_view to_string(Trial::Outcome outcome);

/// Routes that were drawn with equal chances for each: what they say of the space holds whatever the knobs do together.
struct UniformDraws {
  std::vector<BuildRoute> asked;  // by this draw, or before it for another reason
  std::int64_t put_off = 0;       // drawn, and not asked for yet
};

/// What the routes that are left promise, by a strategy's own model of the trials so far.
struct Outlook {
  double share = 0;             // greatest expected share of the best one's time that a trial would save, being admissible counted in
  double share_per_second = 0;  // the same of the one that promises most for its expected cost, over that cost
  std::size_t trials = 0;       // that the model has seen: two outlooks with the same number are one
  bool every_knob_turned = false;  // false: first changes of single knobs are still to come, about which the model knows nothing
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::string_view name() const = 0;
  /// The next route: valid, canonical, never one that was asked before; nullopt: nothing left to
  /// ask.
  virtual std::optional<BuildRoute> ask() = 0;
  /// Trials of routes that were never asked are taken in, too.
  virtual void tell(const Trial& trial) = 0;
  /// How many it will still ask as far as it knows now; nothing where that depends on what it is
  /// told. An upper bound where clauses forbid some of them.
  virtual std::optional<double> planned() const = 0;
  virtual UniformDraws uniform_draws() const { return {}; }
  /// What kept it from asking, where nothing more being asked is no end.
  virtual Result<> trouble() const { return {}; }
  /// As of the last route that was asked for by the model; nothing before that, and of strategies without a model.
  virtual std::optional<Outlook> outlook() const { return std::nullopt; }
};

/// "auto", "full", "fast", "mixed", "random", "program:" and a shell command (search/program.cpp). kUsage for another name. `baseline` is where one-off
/// changes start; in a space restricted by hand, the valid route nearest to it.
Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const Space& space,
                                                const BuildRoute& baseline, std::uint64_t seed);
inline constexpr std::string_view kProgram = "program:";
std::vector<std::string_view> strategy_names();

}  // namespace fiel
