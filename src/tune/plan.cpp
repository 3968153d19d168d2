#include "tune/plan.h"

#include <algorithm>
#include <limits>

#include "decide/confirm.h"
#include "decide/race.h"

namespace fiel {
namespace {

constexpr int kFewestEntrants = 2;
constexpr int kEnoughEntrants = 6;         // of the fastest at first sight; more only where time is plenty
constexpr double kLeastReserveShare = 0.2;   // methodology E: never less than a fifth is kept for the proof
constexpr double kGateShare = 1.5;           // some that are judged in full are rejected
constexpr double kLeastSearchShare = 0.15;   // below that the race is made smaller instead
constexpr double kPairSessions = 1.5;        // sessions expected over the fewest, where not every one is won

}  // namespace

BudgetPlan plan_budget(const Costs& costs, double spent_seconds, double wall_seconds, std::int64_t fewest_sessions,
                       const PhaseLimits& limits) {
  constexpr double kForever = std::numeric_limits<double>::infinity();
  const double pair = 2 * costs.session_seconds_per_process;
  BudgetPlan plan;
  const auto fewest = static_cast<double>(fewest_sessions);
  plan.proof_seconds = pair * (fewest + kEstimatingSessions) + 2 * costs.holdout_seconds;
  // The comparator and as many nominees as there may be, in front of the proof.
  const double finalists = costs.consistency_seconds * (1 + kMaxNominees);
  const double proof = finalists + std::min(limits.proof_seconds.value_or(kForever),
                                            pair * (kPairSessions * fewest + kEstimatingSessions) + 2 * costs.holdout_seconds);
  const auto race_for = [&](int entrants) { return kRaceSessions * (entrants + 1) * costs.session_seconds_per_process; };
  const auto reserve_for = [&](int entrants) {
    return proof + race_for(entrants) + std::min(limits.gate_seconds.value_or(kForever), kGateShare * entrants * costs.gate_seconds);
  };
  const double left = wall_seconds - spent_seconds;
  plan.entrants = kMaxEntrants;
  while (plan.entrants > kFewestEntrants && race_for(plan.entrants) > limits.race_seconds.value_or(kForever)) --plan.entrants;
  while (plan.entrants > kFewestEntrants && reserve_for(plan.entrants) > left * (1 - kLeastSearchShare)) --plan.entrants;
  // Half of what is left is a fair share for judging and proving; a race of more than it can pay is made smaller.
  while (plan.entrants > kEnoughEntrants && reserve_for(plan.entrants) > left / 2) --plan.entrants;
  plan.reserve_seconds = std::max(reserve_for(plan.entrants), kLeastReserveShare * wall_seconds);
  plan.search_until = wall_seconds - plan.reserve_seconds;
  plan.least_wall_seconds = spent_seconds + reserve_for(kFewestEntrants);
  plan.least_race_seconds = race_for(kFewestEntrants);
  plan.affordable = plan.least_wall_seconds <= wall_seconds && plan.least_race_seconds <= limits.race_seconds.value_or(kForever) &&
                    plan.proof_seconds <= limits.proof_seconds.value_or(kForever);
  return plan;
}

}  // namespace fiel
