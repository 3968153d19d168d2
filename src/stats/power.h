// How small a gain can be proven here, with so many sessions and such noise?
//
// Knows the e-process's rule and a normal model of sessions; no clock, no machine. A session's log-ratio is taken as normal
// around the true gain with the deviation that an A/A showed, so it is won with chance
// Phi((ln(1 + gain) - ln(1 + min_gain)) / deviation). How the wins and losses of n sessions then reach 1/alpha is computed
// exactly, over all (wins, sessions), without simulation.
#pragma once

#include <cstdint>
#include <optional>

namespace fiel::stats {

/// P(E reaches 1/alpha at one of the first `sessions` looks) where each is won with `win_chance`, independently.
/// Eight of eight at alpha = 2.5 %: confirmation_chance(0.9, 0.025, 8) = 0.9^8 = 0.430467.
double confirmation_chance(double win_chance, double alpha, std::int64_t sessions);

/// The smallest win chance that is confirmed with probability `power`; nothing below the fewest sessions that can confirm
/// at all. needed_win_chance(0.8, 0.025, 8) = 0.8^(1/8) = 0.972490.
std::optional<double> needed_win_chance(double power, double alpha, std::int64_t sessions);

struct ProofConditions {
  double alpha = 0.025;         // of the nominee that is tested first
  std::int64_t sessions = 0;    // as many as there is time for
  double deviation = 0;         // of a session's log-ratio
  double min_gain = 0.01;       // the contract's
  double power = 0.8;
};

/// The smallest gain (0.02: 2 % faster) that is confirmed with probability `power`.
std::optional<double> smallest_provable_gain(const ProofConditions& conditions);

}  // namespace fiel::stats
